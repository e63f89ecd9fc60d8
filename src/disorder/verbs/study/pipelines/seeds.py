"""Several seeds as one cell: the mean, with an interval for examples and seeds together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from disorder.metrics.statistics.intervals import student
from disorder.verbs.study.result import DIGITS, StudyCell

EXAMPLES_ALONE = (
    "intervals are over examples, given these trainings; "
    "they do not include the variation between seeds (see by_seed)"
)
RANGES = {
    "delta": (-1.0, 1.0),
    "spearman": (-1.0, 1.0),
    "wos": (0.0, float("inf")),
}  # other scores lie between 0 and 1


def over_seeds(cells: Iterable[StudyCell]) -> list[StudyCell]:
    """One cell for all seeds of a row and column."""
    groups: dict[tuple[Any, ...], list[StudyCell]] = {}
    for cell in cells:
        groups.setdefault((*cell.row.items(), cell.column), []).append(cell)
    return [_mean_cell(group) if len(group) > 1 else group[0] for group in groups.values()]


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
