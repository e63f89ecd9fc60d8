"""How is a study written as a table? Ours with the interval, the printed numbers below, the
difference where it counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from disorder.verbs.study.published_numbers import SCALES, decimals
from disorder.verbs.study.result import Cell, Study, Theirs
from disorder.verbs.study.workbench import short

TITLES = {
    "accuracy": "accuracy",
    "omega_max": "Ω_max",
    "omega_rand": "Ω_rand",
    "omega_all": "Ω_1.0",
    "p_c": "P_c",
    "p_f": "P_f",
    "wos": "WOS",
    "delta": "Δ",
    "ece": "ECE",
    "spearman": "Spearman",
    "agreement": "same answer",
}


@dataclass(frozen=True)
class Line:
    """One line of the table: what it is about, whose numbers, and a text a column."""

    about: list[str]
    whose: Literal["ours", "published", "difference", "other"]
    cells: list[str]


def keys_of(study: Study) -> list[str]:
    """What the rows say they are about."""
    return list(dict.fromkeys(key for cell in study.cells for key in cell.row))


def constants(study: Study) -> dict[str, str]:
    """What all rows are about alike, beside the model; not worth a column where there is little
    room.
    """
    values = {key: {cell.row.get(key) for cell in study.cells} for key in keys_of(study)[1:]}
    return {key: str(found.pop()) for key, found in values.items() if len(found) == 1}


def columns_of(study: Study) -> list[str]:
    """The columns that there is anything to show in."""
    filled = {cell.column for cell in study.cells}
    return [column for column in study.columns if column in filled]


def title(column: str) -> str:
    """A column's name as people write it."""
    return TITLES.get(column, column.replace("_", " "))


def lines(study: Study, keys: Sequence[str] | None = None) -> Iterator[Line]:
    """All lines, row by row of ours; what is printed about other models comes once, after the last
    row it stands beside.
    """
    keys, rows, told = (
        keys_of(study) if keys is None else keys,
        list(study.rows),
        set[tuple[str, ...]](),
    )
    last = {_beside_model(row): number for number, (row, _) in enumerate(rows)}
    for number, (row, cells) in enumerate(rows):
        here = [short(row.get(key, "")) if row.get(key) else "" for key in keys]
        yield Line(
            here,
            "ours",
            [ours(cells[c], study.units[c]) if c in cells else "" for c in columns_of(study)],
        )
        for model in dict.fromkeys(
            each.model for cell in cells.values() for each in cell.theirs if each.is_same
        ):
            told.add((model, *_beside_model(row)))
            yield from _same_lines(study, model, cells, keys)
        if last[_beside_model(row)] == number:
            yield from _other_lines(study, row, cells, keys, told)


def _beside_model(row: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(value for key, value in row.items() if key != "model")


def _same_lines(
    study: Study, model: str, cells: Mapping[str, Cell], keys: Sequence[str]
) -> Iterator[Line]:
    theirs = _printed(study, model, cells)
    yield Line(
        _label(model, keys), "published", [each.printed if each else "" for each in theirs.values()]
    )
    if any(each is not None and each.difference is not None for each in theirs.values()):
        told = [
            difference(each, study.units[column]) if each else "" for column, each in theirs.items()
        ]
        yield Line(["difference", *[""] * (len(keys) - 1)], "difference", told)


def _other_lines(
    study: Study,
    row: Mapping[str, str],
    cells: Mapping[str, Cell],
    keys: Sequence[str],
    told: set[tuple[str, ...]],
) -> Iterator[Line]:
    for model in dict.fromkeys(
        each.model for cell in cells.values() for each in cell.theirs if not each.is_same
    ):
        if (model, *_beside_model(row)) not in told:
            printed = [
                each.printed if each else "" for each in _printed(study, model, cells).values()
            ]
            yield Line(_label(model, keys), "other", printed)


def _printed(study: Study, model: str, cells: Mapping[str, Cell]) -> dict[str, Theirs | None]:
    """What is printed about a model, column by column."""
    of = {column: cells[column].theirs if column in cells else [] for column in columns_of(study)}
    return {
        column: next((each for each in theirs if each.model == model), None)
        for column, theirs in of.items()
    }


def _label(model: str, keys: Sequence[str]) -> list[str]:
    return [f"published: {model}" if model else "published", *[""] * (len(keys) - 1)]


def ours(cell: Cell, unit: str) -> str:
    """Our number with its interval, in the unit of the paper.

    >>> ours(Cell(row={}, column="a", value=0.8237, low=0.81, high=0.84), "percent")
    '82.4 81.0–84.0'
    >>> ours(Cell(row={}, column="a", value=0.021, low=-0.004, high=0.05), "points")
    '+2.1 −0.4 to +5.0'
    """
    if cell.low is None or cell.high is None:
        return shown(cell.value, unit)
    low, high = (
        shown(bound, unit, 2 if unit == "share" else None) for bound in (cell.low, cell.high)
    )
    return f"{shown(cell.value, unit)} {low}{' to ' if unit == 'points' or '−' in low + high else '–'}{high}"


def shown(value: float, unit: str, digits: int | None = None) -> str:
    """A number in the unit of the paper."""
    usual = {"share": 3, "count": 0}.get(unit, 1)
    sign = "+" if unit == "points" else ""
    text = f"{value / SCALES[unit]:{sign},.{usual if digits is None else digits}f}"
    if not text.strip("+-0.,"):
        return text.lstrip("+-")
    return text.replace("-", "−")


def difference(theirs: Theirs, unit: str) -> str:
    """Ours minus theirs and whether theirs lies in our interval, or why that is not said."""
    if theirs.difference is None:
        return "not compared" if theirs.why_not else ""
    digits = max(decimals(theirs.printed), {"share": 3, "count": 0}.get(unit, 1))
    change = shown(theirs.difference, unit, digits)
    sign = "" if change.startswith(("−", "+")) or not change.strip("0.,") else "+"
    if theirs.is_within is None:
        return f"{sign}{change} not judged"
    if unit == "count" and theirs.is_within:
        return "equal"
    return f"{sign}{change} {'within' if theirs.is_within else 'outside' if unit != 'count' else 'differs'}"


def why_not(study: Study) -> list[str]:
    """Why some published numbers are not compared or not judged, though the row is the same."""
    told: dict[tuple[str, str], list[str]] = {}
    for cell in study.cells:
        for each in cell.theirs:
            if each.why_not:
                how = "not compared" if each.difference is None else "not judged"
                told.setdefault((how, each.why_not), []).append(title(cell.column))
    return [
        f"{how}: {', '.join(dict.fromkeys(columns))} ({reason})"
        for (how, reason), columns in told.items()
    ]


def printed(study: Study) -> dict[str, Any]:
    """The published table whole, as it is printed."""
    keys = list(dict.fromkeys(key for row in study.published for key in row if key != "cells"))
    columns = [c for c in study.columns if any(c in row["cells"] for row in study.published)]
    rows = [
        ([row.get(key, "") for key in keys], [row["cells"].get(c, "") for c in columns])
        for row in study.published
    ]
    return {"keys": keys, "columns": [title(c) for c in columns], "rows": rows}
