"""How sure is a number that people gave? The unit is the item: several answers to it are a cluster.

Shares and means have their intervals from `disorder.metrics`; here are those for statistics of
sums, and for sums and differences of shares that were measured on different items.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import sqrt

import numpy as np

from disorder.metrics import mean
from disorder.randomness import generator
from disorder.types import Floats, Score

N_RESAMPLES = 1000


def resampled_sums(parts: Floats, statistic: Callable[[Floats], Floats]) -> tuple[float, float]:
    """A percentile interval over items for a statistic of sums of `parts` (one row an item;
    resamples × … in, one each out).

    Resamples for which the statistic is undefined are left out.
    """
    n = len(parts)
    counts = generator(0, "human bootstrap", str(n)).multinomial(
        n, np.full(n, 1 / n), size=N_RESAMPLES
    )
    sums = (counts @ parts.reshape(n, -1)).reshape(N_RESAMPLES, *parts.shape[1:])
    low, high = np.nanpercentile(statistic(sums), (2.5, 97.5))
    return float(low), float(high)


def paired_difference(first: Floats, second: Floats, *, skipped: int = 0) -> Score:
    """The mean of first − second over the same items, each in [0, 1], with an interval over items."""
    halved = mean((first - second + 1) / 2, skipped=skipped)
    value = float(np.mean(first - second))
    low, high = 2 * halved.low - 1, 2 * halved.high - 1
    return Score(value, min(low, value), max(high, value), halved.n, skipped)


def combined(scores: Sequence[Score], weights: Sequence[float]) -> Score:
    """A weighted sum of scores measured on different items, by recovering each one's variance from
    its bounds.

    After Zou and Donner (2008); for the difference of two shares this is Newcombe's interval.
    """
    value = sum(w * s.value for s, w in zip(scores, weights, strict=True))
    down = [
        w * (s.value - (s.low if w > 0 else s.high)) for s, w in zip(scores, weights, strict=True)
    ]
    up = [
        w * ((s.high if w > 0 else s.low) - s.value) for s, w in zip(scores, weights, strict=True)
    ]
    low, high = (sqrt(sum(x * x for x in distances)) for distances in (down, up))
    return Score(
        value, value - low, value + high, sum(s.n for s in scores), sum(s.skipped for s in scores)
    )
