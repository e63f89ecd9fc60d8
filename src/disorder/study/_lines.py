"""How is a study written as a table? Ours with the interval, the printed numbers below, the difference where it counts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from disorder.study._bench import short
from disorder.study._published import SCALES, decimals
from disorder.study._result import Cell, Study, Theirs

TITLES = {
    "accuracy": "accuracy", "omega_max": "Ω_max", "omega_rand": "Ω_rand", "omega_all": "Ω_1.0", "p_c": "P_c", "p_f": "P_f",
    "wos": "WOS", "delta": "Δ", "ece": "ECE", "spearman": "Spearman", "agreement": "same answer",
}  # fmt: skip


@dataclass(frozen=True)
class Line:
    """One line of the table: what it is about, whose numbers, and a text a column."""

    about: list[str]
    whose: Literal["ours", "published", "difference", "other"]
    cells: list[str]


def keys_of(study: Study) -> list[str]:
    """What the rows say they are about."""
    return list(dict.fromkeys(key for cell in study.cells for key in cell.row))


def columns_of(study: Study) -> list[str]:
    """The columns that there is anything to show in."""
    filled = {cell.column for cell in study.cells}
    return [column for column in study.columns if column in filled]


def title(column: str) -> str:
    """A column's name as people write it."""
    return TITLES.get(column, column.replace("_", " "))


def lines(study: Study) -> Iterator[Line]:
    """All lines, row by row of ours."""
    keys, columns = keys_of(study), columns_of(study)
    for row, cells in study.rows:
        here = [short(row.get(key, "")) if row.get(key) else "" for key in keys]
        yield Line(here, "ours", [ours(cells[c], study.units[c]) if c in cells else "" for c in columns])
        for model in dict.fromkeys(each.model for cell in cells.values() for each in cell.theirs):
            yield from _their_lines(study, model, cells, here, keys)


def _their_lines(study: Study, model: str, cells: dict[str, Cell], here: list[str], keys: list[str]) -> Iterator[Line]:
    columns = columns_of(study)
    theirs = {c: next((each for each in cells[c].theirs if each.model == model), None) for c in columns if c in cells}
    is_same = any(each is not None and each.is_same for each in theirs.values())
    label = f"published: {model}" if model else "published"
    about = [label if i == 0 else "" for i in range(len(keys))]
    printed = [each.printed if (each := theirs.get(c)) else "" for c in columns]
    yield Line(about, "published" if is_same else "other", printed)
    if is_same:
        told = [difference(each, study.units[c]) if (each := theirs.get(c)) else "" for c in columns]
        yield Line(["difference" if i == 0 else "" for i in range(len(keys))], "difference", told)


def ours(cell: Cell, unit: str) -> str:
    """Our number with its interval, in the unit of the paper.

    >>> ours(Cell(row={}, column="a", value=0.8237, low=0.81, high=0.84), "percent")
    '82.4 81.0–84.0'
    """
    if cell.low is None or cell.high is None:
        return shown(cell.value, unit)
    low, high = (shown(bound, unit, 2 if unit == "share" else None) for bound in (cell.low, cell.high))
    return f"{shown(cell.value, unit)} {low}{' to ' if '−' in low + high else '–'}{high}"


def shown(value: float, unit: str, digits: int | None = None) -> str:
    """A number in the unit of the paper."""
    usual = {"share": 3, "count": 0}.get(unit, 1)
    text = f"{value / SCALES[unit]:,.{usual if digits is None else digits}f}"
    return text.lstrip("-") if not text.strip("-0.,") else text.replace("-", "−")


def difference(theirs: Theirs, unit: str) -> str:
    """Ours minus theirs and whether theirs lies in our interval, or why that is not said."""
    if theirs.difference is None:
        return "not compared" if theirs.why_not else ""
    digits = max(decimals(theirs.printed), {"share": 3, "count": 0}.get(unit, 1))
    change = shown(theirs.difference, unit, digits)
    sign = "" if change.startswith("−") or not change.strip("0.,") else "+"
    if unit == "count" and theirs.is_within:
        return "equal"
    return f"{sign}{change} {'within' if theirs.is_within else 'outside' if unit != 'count' else 'differs'}"


def why_not(study: Study) -> list[str]:
    """Why some published numbers are not compared, though the row is the same."""
    told: dict[str, list[str]] = {}
    for cell in study.cells:
        for each in cell.theirs:
            if each.why_not:
                told.setdefault(each.why_not, []).append(title(cell.column))
    return [f"not compared: {', '.join(dict.fromkeys(columns))} ({reason})" for reason, columns in told.items()]


def printed(study: Study) -> dict[str, Any]:
    """The published table whole, as it is printed."""
    keys = list(dict.fromkeys(key for row in study.published for key in row if key != "cells"))
    columns = [c for c in study.columns if any(c in row["cells"] for row in study.published)]
    rows = [([row.get(key, "") for key in keys], [row["cells"].get(c, "") for c in columns]) for row in study.published]
    return {"keys": keys, "columns": [title(c) for c in columns], "rows": rows}
