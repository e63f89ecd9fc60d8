"""Does this benchmark need reading, or can it be gamed? One file a check; each gives verdicts,
pictures and data.

This folder joins stages as train/ and compare/ do: it reads, breaks, trains on whole and on perturbed
rows, and measures.
"""

from __future__ import annotations

from disorder.report.exhibits import Figure, Table
from disorder.verbs.sanity.checking import CHECKS, sanity
from disorder.verbs.sanity.folder import as_json, page, write_folder
from disorder.verbs.sanity.result import Checked, Sanity, Section, Verdict
from disorder.verbs.sanity.splits import LIMIT

__all__ = [
    "CHECKS",
    "LIMIT",
    "Checked",
    "Figure",
    "Sanity",
    "Section",
    "Table",
    "Verdict",
    "as_json",
    "page",
    "sanity",
    "write_folder",
]
