"""Scores of trials: balanced accuracy for labels, Spearman for numbers, and paired differences.

Rows with the same first text are one cluster in every interval: twenty questions about one passage
are not twenty passages. The metrics of an audit and scikit-learn's `balanced_accuracy_score` have
no interval for a mean over labels with clusters, so that is here; bootstrap, ranks and Student's t
are those of `disorder.metrics`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, sqrt

import numpy as np

from disorder.errors import NothingToMeasure
from disorder.metrics import resampled, widened
from disorder.metrics.statistics.intervals import student
from disorder.metrics.statistics.ranks import ranks
from disorder.types import Bools, Floats, Ints, Score

FEWEST = 3  # examples, and clusters of them, that a rank correlation needs
NO_SPREAD = 1e-12  # share of the squares below which numbers do not vary


def balanced_accuracy(
    is_right: Bools, gold: Ints, *, skipped: int = 0, clusters: Ints | None = None
) -> Score:
    """The mean over labels of the share predicted right."""
    values = is_right.astype(float)
    return mean_over_labels(values, gold, (0.0, 1.0), skipped=skipped, clusters=clusters)


def balanced_difference(
    is_right: Bools, than: Bools, gold: Ints, *, skipped: int = 0, clusters: Ints | None = None
) -> Score:
    """How much larger the balanced accuracy is, over the same examples."""
    values = is_right.astype(float) - than.astype(float)
    return mean_over_labels(values, gold, (-1.0, 1.0), skipped=skipped, clusters=clusters)


def clustered_share(claims: Bools, clusters: Ints) -> Score:
    """The share of rows for which a claim holds."""
    one_stratum = np.zeros(len(claims), dtype=np.int64)
    return mean_over_labels(claims.astype(float), one_stratum, (0.0, 1.0), clusters=clusters)


def clustered_mean(values: Floats, clusters: Ints) -> Score:
    """The mean of numbers without bounds, with the interval of Student's t over clusters."""
    cluster_of = _cluster_numbers(len(values), clusters)
    n = int(cluster_of.max()) + 1
    value = float(values.mean())
    if n < 2:
        return Score(value, -inf, inf, len(values))
    by_cluster = np.bincount(cluster_of, weights=(values - value) / len(values))
    half = student(n - 1) * sqrt(n / (n - 1) * float((by_cluster**2).sum()))
    return Score(value, value - half, value + half, len(values))


def mean_over_labels(
    values: Floats,
    labels: Ints,
    ends: tuple[float, float],
    *,
    skipped: int = 0,
    clusters: Ints | None = None,
) -> Score:
    """The mean over labels of each label's mean; `ends` are the least and the largest value."""
    present = np.unique(labels)
    weights = dict.fromkeys(present.tolist(), 1 / max(1, len(present)))
    value, half = weighted_means(values, labels, weights, ends, clusters)
    low = max(ends[0], value - half)
    high = min(ends[1], value + half)
    return Score(value, low, high, len(values), skipped)


def weighted_means(
    values: Floats,
    strata: Ints,
    weights: Mapping[int, float],
    ends: tuple[float, float],
    clusters: Ints | None = None,
) -> tuple[float, float]:
    """The weighted sum of the means of strata, and half the width of its interval.

    Influences are summed by cluster before they are squared. For the interval one imagined example
    at each end joins each stratum (as Agresti and Coull do for shares), a cluster of its own:
    without them the interval has no width where all examples agree. A single cluster tells nothing
    of others, so its interval is unbounded.
    """
    if not len(values):
        raise NothingToMeasure("no example to measure")
    cluster_of = _cluster_numbers(len(values), clusters)
    value = 0.0
    imagined = 0.0
    influence = np.zeros(len(values))
    for stratum, weight in weights.items():
        inside = strata == stratum
        own = values[inside]
        extended = np.append(own, ends)
        effects = weight * (extended - extended.mean()) / len(extended)
        value += weight * float(own.mean())
        influence[inside] = effects[: len(own)]
        imagined += float((effects[len(own) :] ** 2).sum())
    n = int(cluster_of.max()) + 1
    if n < 2:
        return value, inf
    by_cluster = np.bincount(cluster_of, weights=influence)
    variance = n / (n - 1) * (float((by_cluster**2).sum()) + imagined)
    return value, student(n - 1) * sqrt(variance)


def _cluster_numbers(n: int, clusters: Ints | None) -> Ints:
    """Clusters numbered from 0; without any, each row is one."""
    if clusters is None:
        return np.arange(n)
    return np.asarray(np.unique(clusters, return_inverse=True)[1])


def correlation(
    numbers: Floats, gold: Floats, *, skipped: int = 0, clusters: Ints | None = None
) -> Score:
    """Spearman's rank correlation, resampling clusters; 0 where all predictions are equal."""
    return _correlation([numbers], gold, skipped, clusters)


def correlation_difference(
    numbers: Floats, than: Floats, gold: Floats, *, skipped: int = 0, clusters: Ints | None = None
) -> Score:
    """How much higher the rank correlation is, over the same examples."""
    return _correlation([numbers, than], gold, skipped, clusters)


def _correlation(
    predictions: Sequence[Floats], gold: Floats, skipped: int, clusters: Ints | None
) -> Score:
    """One correlation, or the first minus the second; resampling weighs the ranks of all."""
    if len(gold) < FEWEST or np.ptp(gold) == 0:
        raise NothingToMeasure("rank correlation needs three examples and gold numbers that differ")
    cluster_of = _cluster_numbers(len(gold), clusters)
    n = int(cluster_of.max()) + 1
    if n < FEWEST:
        raise NothingToMeasure("rank correlation needs three first texts that differ")
    sums = [_rank_sums(numbers, gold, cluster_of) for numbers in predictions]

    def statistic(picks: Ints) -> Floats:
        first, *rest = [_pearson(each[picks].sum(axis=1)) for each in sums]
        return np.asarray(first - rest[0] if rest else first)

    value = float(statistic(np.arange(n)[None, :])[0])
    wide = widened(value, *resampled(statistic, n), n)
    end = float(len(predictions))
    return Score(value, max(-end, wide.low), min(end, wide.high), len(gold), skipped)


def _rank_sums(numbers: Floats, gold: Floats, cluster_of: Ints) -> Floats:
    """By cluster: how many rows, and the sums, squares and products of their ranks."""
    x = ranks(numbers[None, :])[0]
    y = ranks(gold[None, :])[0]
    x = x - x.mean()
    y = y - y.mean()
    columns = (np.ones(len(x)), x, y, x * x, y * y, x * y)
    return np.stack([np.bincount(cluster_of, weights=column) for column in columns], axis=1)


def _pearson(sums: Floats) -> Floats:
    """The correlation of each resample; 0 where one side does not vary."""
    n, x, y, xx, yy, xy = sums.T
    spread = np.maximum(xx - x * x / n, 0) * np.maximum(yy - y * y / n, 0)
    varies = spread > NO_SPREAD * np.maximum(1.0, xx * yy)
    found = (xy - x * y / n) / np.sqrt(np.where(varies, spread, 1.0))
    return np.asarray(np.where(varies, found, 0.0))
