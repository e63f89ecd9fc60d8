"""How can `disorder.audit(...)` be called although importing audit.py puts the module, not the function, under that name?"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class Verb(ModuleType):
    """A module that is called as its function of the same name."""

    def __call__(self, *arguments: Any, **settings: Any) -> Any:
        """Call the function."""
        return getattr(self, self.__name__.rpartition(".")[2])(*arguments, **settings)


def make_callable(module: str) -> None:
    """Let a module be called as the function in it that has its name."""
    sys.modules[module].__class__ = Verb
