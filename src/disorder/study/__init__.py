"""Show me Table 2 for my model: every table and figure of the four papers as a pipeline, published numbers beside ours.

This folder joins everything: an item names data, models and a pipeline; pipelines use audit, train and explain as users do.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from disorder.study._bench import Asked
from disorder.study._item import Item, item, items
from disorder.study._result import Cell, Study, Theirs
from disorder.study._study import study

__all__ = ["Asked", "Cell", "Item", "Study", "Theirs", "item", "items", "study"]


class _Module(ModuleType):
    """Lets `disorder.study(...)` work although importing this folder puts the module, not the function, under that name."""

    def __call__(self, *arguments: Any, **settings: Any) -> Study:
        return study(*arguments, **settings)


sys.modules[__name__].__class__ = _Module
