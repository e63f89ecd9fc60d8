"""The result of a verb: one envelope for all of them, with the verb's own type as its body.

What a person reads is in it as data (headline, sections, caveats, next steps), so that one place
renders it, and result.json holds it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from disorder.results.exhibits import Figure, Row, Table
from disorder.results.grid import Grid

SCHEMA_VERSION = 2
Found = TypeVar("Found")  # what the part behind a section gives, where there is one
NAMES = {"name", "spec", "asks"}  # all that a section has that only explains others


class Body(Protocol):
    """What a verb gives beside the envelope."""

    def as_data(self) -> Mapping[str, Any]:
        """Its own facts as plain data."""


@dataclass(frozen=True)
class NextStep:
    """A command that may be typed next, and what it is good for."""

    command: str
    why: str


@dataclass(frozen=True)
class Section(Generic[Found]):
    """One question of a result and what was found, or the reason why nothing was.

    `found` is what the part behind it gave back, `spec` that part as requested; `about` says where
    the question comes from, `findings` are lines with numbers, `grids` tables as they are shown,
    `tables` rows to export, `terms` what words mean, `commands` what to type.
    """

    name: str
    asks: str
    about: str = ""
    found: Found | None = None
    reason: str = ""
    spec: str = ""
    findings: Sequence[str] = ()
    grids: Sequence[Grid] = ()
    figures: Sequence[Figure] = ()
    tables: Sequence[Table] = ()
    notes: Sequence[str] = ()
    terms: Mapping[str, str] = field(default_factory=dict)
    commands: Sequence[str] = ()
    links: Mapping[str, str] = field(default_factory=dict)  # title → page
    is_folded: bool = False

    @property
    def line(self) -> str:
        """What was found, or why there is nothing."""
        return f"not shown: {self.reason}" if self.reason else "; ".join(self.findings)

    def as_data(self) -> Row:
        """The section as plain data; texts that only explain it are left to the page."""
        data = {
            "name": self.name,
            "spec": self.spec,
            "asks": self.asks,
            "reason": self.reason,
            "findings": list(self.findings),
            "figures": [_exhibit(figure) for figure in self.figures],
            "tables": [_exhibit(table) for table in self.tables],
            "notes": list(self.notes),
        }
        return {name: value for name, value in data.items() if value}


def _exhibit(exhibit: Figure | Table) -> Row:
    return {"name": exhibit.name, "caption": exhibit.caption, "rows": list(exhibit.rows)}


@dataclass(frozen=True)
class Result:
    """What a verb found.

    `about` names model, data and size in one line; `headline` is the conclusion in words, one line
    or more, `lead` what qualifies it; `grids` are the tables that a reader needs first. `body` is
    the verb's own type.
    """

    verb: str
    about: str
    headline: str
    request: Mapping[str, Any]
    body: Body
    conclusion: Any = None
    records: Sequence[Row] = ()
    lead: Sequence[str] = ()
    caveats: Sequence[str] = ()
    grids: Sequence[Grid] = ()
    sections: Sequence[Section[Any]] = ()
    notes: Sequence[str] = ()
    next_steps: Sequence[NextStep] = ()
    links: Mapping[str, str] = field(default_factory=dict)  # title → page beside this one
    command: str = ""  # repeats it
    facts: Mapping[str, str] = field(default_factory=dict)  # data, model, versions

    @property
    def figures(self) -> list[Figure]:
        """Every figure, in the order of the page."""
        return [figure for section in self.sections for figure in section.figures]

    @property
    def tables(self) -> list[Table]:
        """Every table to export, in the order of the page."""
        return [table for section in self.sections for table in section.tables]

    def as_data(self) -> Row:
        """What result.json holds: the envelope, and the body's own names beside it."""
        sections = [section.as_data() for section in self.sections]
        return {
            "schema_version": SCHEMA_VERSION,
            "verb": self.verb,
            **self.body.as_data(),
            "request": dict(self.request),
            "command": self.command,
            "headline": self.headline,
            "conclusion": self.conclusion,
            "scores": list(self.records),
            "sections": [data for data in sections if not data.keys() <= NAMES],
            "caveats": list(self.caveats),
            "next_steps": [asdict(step) for step in self.next_steps],
        }
