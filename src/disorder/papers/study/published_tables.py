"""Published tables: what a paper printed, one TOML file per paper, read as strings exactly as
printed.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from disorder.errors import BadData

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
    """One table or figure as published; of a figure, the numbers that the text states, and the
    texts that it prints.

    `erratum` says what is inconsistent in it.
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
        """A printed number on our scale, where shares and percentages lie between 0 and 1.

        None where the cell holds no number.
        """
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
