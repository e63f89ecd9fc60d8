"""Show me Table 2 for my model: every table and figure of the four papers as a pipeline, published
numbers beside ours.

This folder joins everything: an item names data, models and a pipeline; pipelines use audit, train
and explain as users do.
"""

from __future__ import annotations

from disorder.verbs.study.item import Item, item, items
from disorder.verbs.study.result import Cell, Study, Theirs
from disorder.verbs.study.studying import study
from disorder.verbs.study.workbench import Asked

__all__ = ["Asked", "Cell", "Item", "Study", "Theirs", "item", "items", "study"]
