"""How good are answers, and what does a change cost? Accuracy with every label counting the same;
Spearman for numbers.

Differences are paired: both answers of an example together. Rows with one first text are a cluster
and count together in every interval: twenty questions about one passage are not twenty passages.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np

from disorder.errors import NothingToMeasure
from disorder.metrics import resampled, widened
from disorder.metrics.statistics.intervals import student
from disorder.metrics.statistics.ranks import ranks
from disorder.types import Bools, Floats, Ints, Score

FEWEST = 3  # examples, and clusters of them, that a rank correlation needs


def balanced(right: Bools, gold: Ints, *, skipped: int = 0, clusters: Ints | None = None) -> Score:
    """The mean over labels of the share answered right."""
    return stratified(right.astype(float), gold, (0.0, 1.0), skipped, clusters)


def balanced_difference(
    right: Bools, than: Bools, gold: Ints, *, skipped: int = 0, clusters: Ints | None = None
) -> Score:
    """The mean over labels of how many more are right than before."""
    return stratified(
        right.astype(float) - than.astype(float), gold, (-1.0, 1.0), skipped, clusters
    )


def clustered_share(claims: Bools, clusters: Ints) -> Score:
    """The share of rows for which a claim holds."""
    return stratified(
        claims.astype(float), np.zeros(len(claims), dtype=np.int64), (0.0, 1.0), clusters=clusters
    )


def stratified(
    values: Floats,
    labels: Ints,
    ends: tuple[float, float],
    skipped: int = 0,
    clusters: Ints | None = None,
) -> Score:
    """The mean over labels of each label's mean."""
    present = np.unique(labels)
    value, half = combined(
        values, labels, dict.fromkeys(present.tolist(), 1 / max(1, len(present))), ends, clusters
    )
    return Score(
        value, max(ends[0], value - half), min(ends[1], value + half), len(values), skipped
    )


def combined(
    values: Floats,
    strata: Ints,
    weights: dict[int, float],
    ends: tuple[float, float],
    clusters: Ints | None = None,
) -> tuple[float, float]:
    """The weighted sum of the means of strata, and half its interval: influences are summed by
    cluster.

    One imagined example at each end joins each stratum for the interval (as Agresti and Coull do
    for shares), a cluster of its own: without them there is no doubt where all examples agree. One
    cluster alone tells nothing of others.
    """
    if not len(values):
        raise NothingToMeasure("no example to measure")
    clusters = (
        np.arange(len(values)) if clusters is None else np.unique(clusters, return_inverse=True)[1]
    )
    value, imagined, influence = 0.0, 0.0, np.zeros(len(values))
    for stratum, weight in weights.items():
        inside = strata == stratum
        own = values[inside]
        wider = np.append(own, ends)
        effects = weight * (wider - wider.mean()) / len(wider)
        value += weight * float(own.mean())
        influence[inside] = effects[: len(own)]
        imagined += float((effects[len(own) :] ** 2).sum())
    n = int(clusters.max()) + 1
    if n < 2:
        return value, float("inf")
    together = np.bincount(clusters, weights=influence)
    return value, student(n - 1) * sqrt(n / (n - 1) * (float((together**2).sum()) + imagined))


def correlation(
    numbers: Floats, gold: Floats, *, skipped: int = 0, clusters: Ints | None = None
) -> Score:
    """Spearman's rank correlation with a bootstrap over clusters; 0 where every text gets the same
    number.
    """
    return _correlated([numbers], gold, skipped, clusters)


def correlation_difference(
    numbers: Floats, than: Floats, gold: Floats, *, skipped: int = 0, clusters: Ints | None = None
) -> Score:
    """How much higher the rank correlation is, over the same examples."""
    return _correlated([numbers, than], gold, skipped, clusters)


def _correlated(
    answers: Sequence[Floats], gold: Floats, skipped: int, clusters: Ints | None
) -> Score:
    """One correlation, or the first less the second. Ranks are those of all examples, which
    resampling then weighs.
    """
    if len(gold) < FEWEST or np.ptp(gold) == 0:
        raise NothingToMeasure("rank correlation needs three examples and gold numbers that differ")
    places = (
        np.arange(len(gold)) if clusters is None else np.unique(clusters, return_inverse=True)[1]
    )
    n = int(places.max()) + 1
    if n < FEWEST:
        raise NothingToMeasure("rank correlation needs three first texts that differ")
    sums = [_sums(each, gold, places) for each in answers]

    def statistic(picks: Ints) -> Floats:
        first, *rest = [_pearson(each[picks].sum(axis=1)) for each in sums]
        return np.asarray(first - rest[0] if rest else first)

    value = float(statistic(np.arange(n)[None, :])[0])
    wide, ends = widened(value, *resampled(statistic, n), n), float(len(answers))
    return Score(value, max(-ends, wide.low), min(ends, wide.high), len(gold), skipped)


def _sums(numbers: Floats, gold: Floats, places: Ints) -> Floats:
    """By cluster: how many rows, and the sums, squares and products of their ranks."""
    x, y = (each - each.mean() for each in (ranks(numbers[None, :])[0], ranks(gold[None, :])[0]))
    columns = (np.ones(len(x)), x, y, x * x, y * y, x * y)
    return np.stack([np.bincount(places, weights=column) for column in columns], axis=1)


def _pearson(sums: Floats) -> Floats:
    """Resample by resample; 0 where one side does not vary: it tells nothing."""
    n, x, y, xx, yy, xy = sums.T
    spread = np.maximum(xx - x * x / n, 0) * np.maximum(yy - y * y / n, 0)
    enough = spread > 1e-12 * np.maximum(1.0, xx * yy)
    return np.asarray(
        np.where(enough, (xy - x * y / n) / np.sqrt(np.where(enough, spread, 1.0)), 0.0)
    )
