"""Several seeds as one cell: the mean, with an interval for examples and seeds together."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from disorder.metrics.statistics.intervals import student
from disorder.papers.study.result import DIGITS, StudyCell

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
    return [_mean_cell(group) if len(group) > 1 else group[0] for group in _groups(cells)]


def _groups(cells: Iterable[StudyCell]) -> Iterable[list[StudyCell]]:
    """The cells of each row and column."""
    groups: dict[tuple[Any, ...], list[StudyCell]] = {}
    for cell in cells:
        groups.setdefault((*cell.row.items(), cell.column), []).append(cell)
    return groups.values()


def best_and_mean(cells: Iterable[StudyCell]) -> list[StudyCell]:
    """The best of several trainings and their mean, as rows of their own; one training is neither,
    and stays as it is.
    """
    found: list[StudyCell] = []
    for group in _groups(cells):
        if len(group) == 1:
            found += group
            continue
        best = max(group, key=lambda cell: cell.value)
        several = {BEST: best, mean_of(len(group)): _mean_cell(group)}
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
    """A column that says how a way to train changes another column, against the first way.

    A `gain` is the difference; a `ratio` is what the paper prints as a change of sensitivity.
    """

    of: str
    fills: str
    kind: Literal["gain", "ratio"] = "gain"

    def cells(
        self, ours: Iterable[StudyCell], baseline: Iterable[StudyCell], *, without: Collection[str]
    ) -> list[StudyCell]:
        """The change of every cell that has one in the baseline, rows matched `without` some
        keys.
        """
        before = {_rest(cell, without): cell for cell in baseline if cell.column == self.of}
        found = []
        for cell in ours:
            other = before.get(_rest(cell, without))
            if (
                cell.column == self.of
                and other is not None
                and (other.value or self.kind == "gain")
            ):
                found.append(self._cell(cell, other))
        return found

    def _cell(self, cell: StudyCell, other: StudyCell) -> StudyCell:
        """Both intervals are taken to be independent, which makes the change's no narrower than it
        is.
        """
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


def _rest(cell: StudyCell, without: Collection[str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((key, value) for key, value in cell.row.items() if key not in without))


def _half(cell: StudyCell) -> float:
    low, high = cell.bounds
    return (high - low) / 2


def _mean_cell(group: Sequence[StudyCell]) -> StudyCell:
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
