"""What did the papers print? Their numbers as data, one TOML file a paper, read as strings exactly
as printed.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from typing import Any

SCALES = {"share": 1.0, "count": 1.0, "percent": 0.01, "points": 0.01}
PRINTED = re.compile(r"[-−–+]?\d[\d,]*(?:\.\d+)?|[-−–+]?\.\d+")


@dataclass(frozen=True)
class Row:
    """One row of a table: what it is about (model, data, transformation, …), and its cells as
    printed.
    """

    about: Mapping[str, str]
    cells: Mapping[str, str]


@dataclass(frozen=True)
class Section:
    """One table or figure as published; of a figure, what the text states in numbers. `erratum` is
    what does not add up.
    """

    title: str = ""
    page: int | None = None
    unit: str = "share"
    units: Mapping[str, str] = field(default_factory=dict)
    columns: Sequence[str] = ()
    rows: Sequence[Row] = ()
    note: str = ""
    erratum: str = ""

    def unit_of(self, column: str) -> str:
        """How the printed numbers of a column are to be read."""
        return self.units.get(column, self.unit)

    def number(self, column: str, text: str) -> float | None:
        """A printed number on our scale, on which shares and percentages lie between 0 and 1; None
        where there is none.
        """
        found = number(text)
        return None if found is None else found * SCALES[self.unit_of(column)]

    def half_step(self, column: str, text: str) -> float:
        """Half a unit of the last printed digit, on our scale: what rounding may have hidden."""
        return 0.5 * 10.0 ** -decimals(text) * SCALES[self.unit_of(column)]

    def values(self, key: str) -> list[str]:
        """What the rows say under a key, each once."""
        return list(dict.fromkeys(row.about[key] for row in self.rows if key in row.about))


@lru_cache
def published(paper: str) -> dict[str, Section]:
    """All that one paper printed, by item; nothing for a paper without a file."""
    file = files("disorder.verbs.study").joinpath("published", f"{paper}.toml")
    if not file.is_file():
        return {}
    return {
        name: _section(given)
        for name, given in tomllib.loads(file.read_text(encoding="utf-8")).items()
    }


def _section(given: Mapping[str, Any]) -> Section:
    rows = [
        Row({k: str(v) for k, v in row.items() if k != "cells"}, dict(row["cells"]))
        for row in given.get("rows", ())
    ]
    names = ("title", "page", "unit", "units", "columns", "note", "erratum")
    return Section(**{name: given[name] for name in names if name in given}, rows=rows)


def number(text: str) -> float | None:
    """The first number of a printed cell.

    >>> [number(text) for text in ("0.906", "82.37%", "-1.37", "−3", "6,655", "0.581 ±0.068", "–")]
    [0.906, 82.37, -1.37, -3.0, 6655.0, 0.581, None]
    """
    found = PRINTED.search(text)
    return (
        None
        if found is None
        else float(found[0].replace(",", "").replace("−", "-").replace("–", "-"))
    )


def decimals(text: str) -> int:
    """How many digits after the point a printed cell has.

    >>> decimals("82.37%"), decimals("6,655")
    (2, 0)
    """
    found = PRINTED.search(text)
    return 0 if found is None else len(found[0].partition(".")[2])
