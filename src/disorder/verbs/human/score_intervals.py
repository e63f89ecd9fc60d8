"""Intervals for scores of people. The unit is the item: several answers to it are a cluster.

Shares, means and the resampling come from `disorder.metrics`; added here are statistics of sums
over items, paired differences, and weighted sums of scores measured on different items.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import hypot

import numpy as np

from disorder.metrics import mean, resampled
from disorder.types import Floats, Ints, Score


def resampled_sums(parts: Floats, statistic: Callable[[Floats], Floats]) -> tuple[float, float]:
    """A percentile interval over items for a statistic of the sum of `parts` (one row per item).

    `statistic` takes sums (resamples × …) and returns one number per resample; resamples for which
    it is undefined are left out.
    """
    n_items = len(parts)
    flat = parts.reshape(n_items, -1)

    def of_resamples(items: Ints) -> Floats:
        sums = flat[items].sum(axis=1)
        return statistic(sums.reshape(len(items), *parts.shape[1:]))

    return resampled(of_resamples, n_items)


def paired_difference(first: Floats, second: Floats, *, skipped: int = 0) -> Score:
    """The mean of first − second over items, with its interval; all values are in [0, 1]."""
    halved = mean((first - second + 1) / 2, skipped=skipped)
    value = float(np.mean(first - second))
    low = 2 * halved.low - 1
    high = 2 * halved.high - 1
    return Score(value, min(low, value), max(high, value), halved.n, skipped)


def weighted_sum(scores: Sequence[Score], weights: Sequence[float]) -> Score:
    """A weighted sum of scores measured on different items, with an interval that recovers the
    variance of each score from its bounds.

    After Zou and Donner (2008); for the difference of two shares this is Newcombe's interval.
    """
    value = 0.0
    below: list[float] = []
    above: list[float] = []
    for score, weight in zip(scores, weights, strict=True):
        value += weight * score.value
        bounds = sorted((weight * score.low, weight * score.high))
        below.append(weight * score.value - bounds[0])
        above.append(bounds[1] - weight * score.value)
    n = sum(score.n for score in scores)
    skipped = sum(score.skipped for score in scores)
    return Score(value, value - hypot(*below), value + hypot(*above), n, skipped)
