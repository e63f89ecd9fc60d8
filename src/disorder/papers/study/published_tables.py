"""Published tables: what a paper printed, one TOML file per paper, read as strings exactly as
printed; and which of its numbers stands beside which of ours, and may be compared.

They may be compared where model, data and everything else that the row is about are the same. A
number about another model is shown with its name and never compared.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from disorder.errors import BadData
from disorder.papers.study.result import DIGITS, PublishedNumber, StudyCell

SCALES = {"share": 1.0, "count": 1.0, "percent": 0.01, "points": 0.01}
PRINTED = re.compile(r"[-−–+]?\d[\d,]*(?:\.\d+)?|[-−–+]?\.\d+")
FIELDS = ("title", "page", "unit", "units", "columns", "note", "erratum")
NAMES = "names"  # the section of values that items share
TEXT_FIELDS = ("text_a", "text_b", "data")


@dataclass(frozen=True)
class PublishedRow:
    """One row: what it is about (model, data, transformation, …), and its cells as printed."""

    about: Mapping[str, str]
    cells: Mapping[str, str]


@dataclass(frozen=True)
class PrintedText:
    """A text or pair that the paper prints, of which data, and what its row is about."""

    text_a: str
    text_b: str | None
    data: str
    about: Mapping[str, str]


@dataclass(frozen=True)
class PublishedTable:
    """One table or figure as published, with the texts that it prints; `erratum` says what is
    inconsistent in it.
    """

    title: str = ""
    page: int | None = None
    unit: str = "share"
    units: Mapping[str, str] = field(default_factory=dict)
    columns: Sequence[str] = ()
    rows: Sequence[PublishedRow] = ()
    texts: Sequence[PrintedText] = ()
    note: str = ""
    erratum: str = ""

    def unit_of(self, column: str) -> str:
        """The unit of the printed numbers of a column."""
        return self.units.get(column, self.unit)

    def number(self, column: str, text: str) -> float | None:
        """A printed number on our scale, where percentages are shares; None where there is none."""
        found = number(text)
        return None if found is None else found * self._scale(column, text)

    def half_step(self, column: str, text: str) -> float:
        """Half a unit of the last printed digit, on our scale: what rounding may have hidden."""
        return 0.5 * 10.0 ** -decimals(text) * self._scale(column, text)

    def _scale(self, column: str, text: str) -> float:
        """What a printed number is multiplied by; a percentage may stand among shares."""
        unit = self.unit_of(column)
        return SCALES["percent" if unit == "share" and text.endswith("%") else unit]

    def values(self, key: str) -> list[str]:
        """What the rows say under a key, each once."""
        return list(dict.fromkeys(row.about[key] for row in self.rows if key in row.about))


@lru_cache
def published_tables(path: Path) -> dict[str, PublishedTable]:
    """All tables and figures in a file of published numbers, by item."""
    sections = read_sections(path)
    try:
        return {
            name: _table(table)
            for name, table in sections.items()
            if isinstance(table, dict) and name != NAMES
        }
    except (KeyError, TypeError, AttributeError) as error:
        raise BadData(f"published numbers {path}: {error!r}") from None


def read_sections(path: Path) -> dict[str, Any]:
    """What a file of items and printed numbers says."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadData(f"published numbers {path}: {error.strerror or error}") from None
    except ValueError as error:
        raise BadData(f"published numbers {path}: {error!r}") from None


def _table(given: Mapping[str, Any]) -> PublishedTable:
    rows = [
        PublishedRow({k: str(v) for k, v in row.items() if k != "cells"}, dict(row["cells"]))
        for row in given.get("rows", ())
    ]
    texts = [
        PrintedText(
            text["text_a"],
            text.get("text_b"),
            text.get("data", ""),
            {k: str(v) for k, v in text.items() if k not in TEXT_FIELDS},
        )
        for text in given.get("texts", ())
    ]
    fields = {name: given[name] for name in FIELDS if name in given}
    return PublishedTable(**fields, rows=rows, texts=texts)


def number(text: str) -> float | None:
    """The first number of a printed cell.

    >>> [number(text) for text in ("0.906", "82.37%", "-1.37", "−3", "6,655", "0.581 ±0.068", "–")]
    [0.906, 82.37, -1.37, -3.0, 6655.0, 0.581, None]
    """
    found = PRINTED.search(text)
    if found is None:
        return None
    return float(found[0].replace(",", "").replace("−", "-").replace("–", "-"))


def decimals(text: str) -> int:
    """How many digits after the point a printed cell has.

    >>> decimals("82.37%"), decimals("6,655")
    (2, 0)
    """
    found = PRINTED.search(text)
    return 0 if found is None else len(found[0].partition(".")[2])


# scores that depend on how many permutations are drawn
BY_DRAWS = ("omega", "p_f", "entropy_f")
# what a printed row says about the number itself: no row of ours says it
STATED = ("model", "source", "bound", "heads")
LABEL = "label"  # what the model predicts for a printed text: ours may predict another


@dataclass(frozen=True)
class TableMatcher:
    """How rows of ours are matched with printed rows.

    `names` says which published model a spec of ours stands for; `subject` is the published model
    where rows name none (empty: the numbers are about no model), and `data` what they are about
    where rows name none. `q` and `paper_q` are how many permutations we and the paper drew.
    `not_comparable` says why no row is about the same, `partial_counts` why no count is. `by_code`
    says which printed numbers follow the released code where ours do not, by column or by
    `key=value` of a row: the difference is shown, and not judged. `by_draws` are columns that
    depend on q, beside the scores that are known to.
    """

    table: PublishedTable
    names: Mapping[str, str] = field(default_factory=dict)
    subject: str = ""
    q: int | None = None
    paper_q: int | None = None
    data: Sequence[str] = ()
    not_comparable: str = ""
    partial_counts: str = ""
    by_code: Mapping[str, str] = field(default_factory=dict)
    by_draws: Collection[str] = ()

    def match(self, cells: Iterable[StudyCell]) -> list[StudyCell]:
        """The cells with what the paper printed for their rows."""
        matched = []
        for cell in cells:
            found = []
            for row in self.table.rows:
                if cell.column not in row.cells or not self._is_about(row, cell):
                    continue
                value = self.table.number(cell.column, row.cells[cell.column])
                if value is not None:
                    found.append(self._judged(cell, row, value))
            found.sort(key=lambda each: not each.is_same)
            matched.append(cell.model_copy(update={"theirs": found}))
        return matched

    def _judged(self, cell: StudyCell, row: PublishedRow, value: float) -> PublishedNumber:
        printed = row.cells[cell.column]
        model = row.about.get("model", self.subject)
        theirs = PublishedNumber(
            model=model,
            printed=printed,
            value=round(value, 8),
            is_same=not model or self.names.get(cell.row.get("model", "")) == model,
            label=row.about.get(LABEL, "") if self.table.texts else "",
        )
        if not theirs.is_same:
            return theirs
        if reason := self._why_not_compared(cell.column):
            return theirs.model_copy(update={"why_not": reason})
        difference = round(cell.value - value, DIGITS) + 0.0
        theirs = theirs.model_copy(update={"difference": difference})
        if reason := self._why_not_judged(cell, row):
            return theirs.model_copy(update={"why_not": reason})
        slack = self.table.half_step(cell.column, printed)
        low, high = cell.bounds
        return theirs.model_copy(update={"is_within": low - slack <= value <= high + slack})

    def _why_not_compared(self, column: str) -> str:
        is_count = self.table.unit_of(column) == "count"
        reason = self.not_comparable or (self.partial_counts if is_count else "")
        if not reason and (drawn := self.other_draws([column]).get(column)):
            return f"{drawn[0]} permutations here, {drawn[1]} in the paper"
        return reason

    def _why_not_judged(self, cell: StudyCell, row: PublishedRow) -> str:
        """Why the printed number was made by other definitions, or is a bound."""
        label = row.about.get(LABEL, "") if self.table.texts else ""
        if label and label != cell.row.get(LABEL):
            return f"printed is the confidence in another label, {label}"
        if bound := row.about.get("bound"):
            return f"the text states a bound, {bound} that"
        names = (cell.column, *(f"{key}={value}" for key, value in cell.row.items()))
        return next((self.by_code[name] for name in names if name in self.by_code), "")

    def other_draws(self, columns: Iterable[str]) -> dict[str, tuple[int, int]]:
        """The columns that depend on the number of permutations, where ours differs, with both."""
        if self.q is None or self.paper_q is None or self.q == self.paper_q:
            return {}
        drawn = (self.q, self.paper_q)
        return {
            column: drawn
            for column in columns
            if column.startswith(BY_DRAWS) or column in self.by_draws
        }

    def _is_about(self, row: PublishedRow, cell: StudyCell) -> bool:
        """Whether a printed row is about all that a row of ours is about, but for the model."""
        names_data = "data" in row.about or not self.data
        if not names_data and cell.row.get("data", self.data[0]) not in self.data:
            return False
        stated: tuple[str, ...] = STATED
        if self.table.texts and LABEL in row.about:  # of one text; means have no label
            if LABEL not in cell.row:
                return False
            stated = (*STATED, LABEL)
        about = {key: value for key, value in row.about.items() if key not in stated}
        return all(cell.row.get(key) == value for key, value in about.items())
