"""Does this benchmark need reading, or can it be gamed? One file a check; each gives verdicts, pictures and data.

This folder joins stages as train/ and compare/ do: it reads, breaks, trains on whole and on broken rows, and measures.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from disorder.sanity._result import Checked, Figure, Sanity, Section, Table, Verdict
from disorder.sanity._rows import LIMIT
from disorder.sanity._sanity import CHECKS, sanity
from disorder.sanity._write import as_json, page, write_folder

__all__ = [
    "CHECKS", "LIMIT", "Checked", "Figure", "Sanity", "Section", "Table", "Verdict", "as_json", "page", "sanity",
    "write_folder",
]  # fmt: skip


class _Module(ModuleType):
    """Lets `disorder.sanity(...)` work although importing this package puts the module, not the function, under that name."""

    def __call__(self, *arguments: Any, **settings: Any) -> Sanity:
        return sanity(*arguments, **settings)


sys.modules[__name__].__class__ = _Module
