"""Verbs that come in by the registry. `disorder --help` loads this, and no other kind of part."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from disorder.registry.declaration import F, Part
from disorder.registry.lookup import declare


@dataclass(frozen=True, kw_only=True)
class VerbPart(Part):
    """A command, and the Python function beside it; the decorator `verb` describes the fields."""

    kind = "verb"

    group: str
    python: str
    shows: str

    def python_function(self) -> Any:
        """The function that is `disorder.NAME`."""
        return _at(self.python)

    def folder_viewer(self) -> Any:
        """The function that shows a folder of its results again."""
        return _at(self.shows)


def _at(address: str) -> Any:
    """What an address names: `package.module:name`."""
    module, _, name = address.partition(":")
    return getattr(importlib.import_module(module), name)


def verb(*, group: str, python: str = "", shows: str = "", name: str = "") -> Callable[[F], F]:
    """Register a command: a function with typer's declarations of its options.

    `group` is the heading that it stands under in the short help. `python` is the address of the
    function that is `disorder.NAME` (`package.module:function`), loaded when it is first used.
    `shows` is the address of the function that shows a folder of its results again: `disorder
    report FOLDER` calls it with the folder and `latex`.
    """
    return declare(VerbPart, name=name, group=group, python=python, shows=shows)
