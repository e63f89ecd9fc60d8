"""Do predicted numbers keep their rank order against gold? For regression tasks (STS-B in Out of
Order, 2021).
"""

from __future__ import annotations

import numpy as np

from disorder.errors import NothingToMeasure
from disorder.metrics.statistics.intervals import resampled
from disorder.registry import metric
from disorder.types import Floats, Ints, Outcomes, Score

ENOUGH = 10  # variants that are resampled for the interval; more would only cost time


@metric(
    better="high on original texts, near 0 on perturbed ones", paper="OOO", of="texts", on="numbers"
)
def spearman(outcomes: Outcomes) -> Score:
    """Spearman's rank correlation with gold, averaged over variants."""
    gold = outcomes.gold.astype(float)
    if len(gold) < 3 or np.ptp(gold) == 0:
        raise NothingToMeasure("rank correlation needs three examples and gold numbers that differ")
    answers = numbers(outcomes)

    def statistic(picks: Ints) -> Floats:
        return np.asarray(
            np.mean([correlation(gold[picks], column[picks]) for column in answers.T], axis=0)
        )

    value = float(statistic(np.arange(len(gold))[None, :])[0])
    if np.isnan(value):
        raise NothingToMeasure("the model gives every text the same number")
    answers = answers[:, :ENOUGH]
    low, high = resampled(statistic, len(gold))
    return Score(value, min(low, value), max(high, value), len(gold), outcomes.n_skipped)


def numbers(outcomes: Outcomes) -> Floats:
    """Answers as examples × variants; an example with fewer variants goes through its own again: a
    missing one has no rank.
    """
    turns = np.arange(outcomes.predictions.shape[1]) % outcomes.n_variants[:, None]
    return np.asarray(np.take_along_axis(outcomes.predictions[:, :, 0], turns, axis=1))


def correlation(x: Floats, y: Floats) -> Floats:
    """Spearman's correlation of the rows of x with the rows of y; NaN where one does not vary."""
    a, b = (ranks(side) - (side.shape[1] + 1) / 2 for side in (x, y))
    with np.errstate(invalid="ignore"):
        return np.asarray((a * b).sum(axis=1) / np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1)))


def ranks(x: Floats) -> Floats:
    """Ranks from 1 within each row; ties share their mean rank."""
    order = np.argsort(x, axis=1, kind="stable")
    ordered = np.take_along_axis(x, order, axis=1)
    starts = np.concatenate(
        [np.ones((len(x), 1), dtype=bool), ordered[:, 1:] != ordered[:, :-1]], axis=1
    )
    groups = np.cumsum(starts.ravel()) - 1
    places = np.tile(np.arange(1, x.shape[1] + 1), len(x))
    means = np.bincount(groups, weights=places) / np.bincount(groups)
    out = np.empty_like(x, dtype=float)
    np.put_along_axis(out, order, means[groups].reshape(x.shape), axis=1)
    return out
