"""Show me Table 2 for my model: every table and figure of the four papers as a pipeline, published numbers beside ours.

This folder joins everything: an item names data, models and a pipeline; pipelines use audit, train and explain as users do.
"""

from __future__ import annotations

from disorder.study._bench import Asked
from disorder.study._item import Item, item, items
from disorder.study._result import Cell, Study, Theirs
from disorder.study._study import study
from disorder.verb import make_callable

__all__ = ["Asked", "Cell", "Item", "Study", "Theirs", "item", "items", "study"]


make_callable(__name__)
