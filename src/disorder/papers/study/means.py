"""Means: rows that average models, sets of data, or trainings with several seeds.

"Mean of 3 BERTs" is a row of three models, each computed here; one model is never taken for it. A
mean over seeds has an interval for examples and seeds together.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from disorder.metrics.statistics.intervals import student
from disorder.papers.study.result import DIGITS, StudyCell

Row = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class MeanRow:
    """A row that averages `members`, models or sets of data; the paper calls it `name`."""

    key: Literal["model", "data"]
    name: str
    members: Sequence[str]

    def cells(
        self, cells: Iterable[StudyCell], names: Mapping[str, str]
    ) -> tuple[list[StudyCell], list[str]]:
        """The mean of every column that all members have, or a note; one over as many other models
        (`names`) has a name of its own.
        """
        groups: dict[tuple[Row, str], dict[str, StudyCell]] = {}
        for cell in cells:
            if self.key in cell.row:
                place = groups.setdefault((_row_without(cell, (self.key,)), cell.column), {})
                place[cell.row[self.key]] = cell
        found = [
            mean for group in groups.values() if (mean := self._mean(group, names)) is not None
        ]
        return found, [] if found else [self._why_not(groups.values())]

    def _mean(self, group: Mapping[str, StudyCell], names: Mapping[str, str]) -> StudyCell | None:
        if self.key == "data":
            members = [group[name] for name in self.members if name in group]
            name = self.name
        else:
            members = list(group.values())
            stands_for = {names.get(model, "") for model in group}
            is_theirs = stands_for == set(self.members)
            name = self.name if is_theirs else f"mean of {len(members)} models"
        if len(members) != len(self.members):
            return None
        return _mean_cell(members, self.key, name)

    def _why_not(self, groups: Iterable[Mapping[str, StudyCell]]) -> str:
        there = dict.fromkeys(name for group in groups for name in group)
        if self.key == "data":
            lacking = ", ".join(name for name in self.members if name not in there)
            return f"{self.name!r}, over {len(self.members)} sets, is not computed (no {lacking})"
        given = "1 was given" if len(there) == 1 else f"{len(there)} were given"
        return (
            f"{self.name!r} is not computed: it is of {len(self.members)} models "
            f"({', '.join(self.members)}), and {given}"
        )


def _mean_cell(members: Sequence[StudyCell], key: str, name: str) -> StudyCell:
    """The mean with its interval: sets of data are independent, models share the examples, where
    the ends of the intervals are averaged, which is never too narrow.
    """
    value = round(float(np.mean([cell.value for cell in members])), DIGITS)
    changes: dict[str, object] = {
        "row": {**members[0].row, key: name},
        "value": value,
        "n": sum(cell.n for cell in members) if key == "data" else members[0].n,
        "skipped": 0,
        "by_seed": [],
    }
    if all(cell.low is not None for cell in members):
        bounds = [cell.bounds for cell in members]
        if key == "data":
            half = math.sqrt(sum(((high - low) / 2) ** 2 for low, high in bounds)) / len(bounds)
            low, high = value - half, value + half
        else:
            low, high = (float(np.mean(ends)) for ends in zip(*bounds, strict=True))
        changes |= {
            "low": round(min(low, value), DIGITS),
            "high": round(max(high, value), DIGITS),
        }
    return members[0].model_copy(update=changes)


EXAMPLES_ALONE = (
    "intervals are over examples, given these trainings; "
    "they do not include the variation between seeds (see by_seed)"
)
RANGES = {
    "delta": (-1.0, 1.0),
    "spearman": (-1.0, 1.0),
    "wos": (0.0, float("inf")),
}  # other scores lie between 0 and 1
BEST = "best run"
TINY = 1e-9


def over_seeds(cells: Iterable[StudyCell]) -> list[StudyCell]:
    """One cell for all seeds of a row and column."""
    return [_mean_over_seeds(group) if len(group) > 1 else group[0] for group in _groups(cells)]


def _groups(cells: Iterable[StudyCell]) -> Iterable[list[StudyCell]]:
    """The cells of each row and column."""
    groups: dict[tuple[Any, ...], list[StudyCell]] = {}
    for cell in cells:
        groups.setdefault((*cell.row.items(), cell.column), []).append(cell)
    return groups.values()


def best_and_mean(cells: Iterable[StudyCell]) -> list[StudyCell]:
    """The best of several trainings and their mean, as rows of their own; one alone is neither."""
    found: list[StudyCell] = []
    for group in _groups(cells):
        if len(group) == 1:
            found += group
            continue
        best = max(group, key=lambda cell: cell.value)
        several = {BEST: best, mean_of(len(group)): _mean_over_seeds(group)}
        found += [
            cell.model_copy(update={"row": {**cell.row, "of": name}})
            for name, cell in several.items()
        ]
    return found


def mean_of(n: int) -> str:
    """What the mean of n trainings is called."""
    return f"mean of {n} runs"


@dataclass(frozen=True)
class Change:
    """How a way to train changes a column against the first way: by difference, or ratio."""

    of: str
    fills: str
    kind: Literal["gain", "ratio"] = "gain"

    def cells(
        self, ours: Iterable[StudyCell], baseline: Iterable[StudyCell], *, without: Collection[str]
    ) -> list[StudyCell]:
        """The change of every cell that the baseline has too, rows matched `without` some keys."""
        before = {_row_without(cell, without): cell for cell in baseline if cell.column == self.of}
        found = []
        for cell in ours:
            other = before.get(_row_without(cell, without))
            if (
                cell.column == self.of
                and other is not None
                and (other.value or self.kind == "gain")
            ):
                found.append(self._cell(cell, other))
        return found

    def _cell(self, cell: StudyCell, other: StudyCell) -> StudyCell:
        """Both intervals are taken to be independent: that of the change is never too narrow."""
        if self.kind == "gain":
            value = cell.value - other.value
            half = math.hypot(_half(cell), _half(other))
        else:
            value = cell.value / other.value
            relative = math.hypot(_half(cell) / max(cell.value, TINY), _half(other) / other.value)
            half = abs(value) * relative
        return StudyCell(
            row=cell.row,
            column=self.fills,
            value=round(value, DIGITS),
            low=round(value - half, DIGITS),
            high=round(value + half, DIGITS),
            n=cell.n,
        )


def _row_without(cell: StudyCell, without: Collection[str]) -> Row:
    return tuple(sorted((key, value) for key, value in cell.row.items() if key not in without))


def _half(cell: StudyCell) -> float:
    low, high = cell.bounds
    return (high - low) / 2


def _mean_over_seeds(group: Sequence[StudyCell]) -> StudyCell:
    values = [cell.value for cell in group]
    value = round(float(np.mean(values)), DIGITS)
    changes: dict[str, Any] = {"value": value, "by_seed": values}
    halves = [
        (cell.high - cell.low) / 2
        for cell in group
        if cell.low is not None and cell.high is not None
    ]
    if len(halves) == len(group):
        half = half_width(values, halves)
        lowest, highest = RANGES.get(group[0].column, (0.0, 1.0))
        low = max(value - half, lowest)
        high = min(value + half, highest)
        changes["low"] = round(min(low, value), DIGITS)
        changes["high"] = round(max(high, value), DIGITS)
    return group[0].model_copy(update=changes)


def half_width(values: Sequence[float], halves: Sequence[float]) -> float:
    """Half of a 95 % interval of the mean over seeds.

    Two variations add up: that of the examples, which all seeds share (the mean of the `halves`
    within seeds), and that of the seeds (Student's t, because they are few).

    >>> round(half_width([0.80, 0.82, 0.84], [0.03, 0.03, 0.03]), 4)
    0.058
    """
    spread = float(np.std(values, ddof=1)) / np.sqrt(len(values))
    return float(np.hypot(np.mean(halves), student(len(values) - 1) * spread))
