"""How good are answers, and what does a change cost? Accuracy with every label counting the same; Spearman for numbers.

Differences are paired: both answers of an example together.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from disorder.errors import NothingToMeasure
from disorder.measure import resampled
from disorder.measure._interval import Z
from disorder.measure.spearman import ranks
from disorder.types import Bools, Floats, Ints, Score

FEWEST = 3  # examples that a rank correlation needs


def balanced(right: Bools, gold: Ints, *, skipped: int = 0) -> Score:
    """The mean over labels of the share answered right."""
    return stratified(right.astype(float), gold, (0.0, 1.0), skipped)


def balanced_difference(right: Bools, than: Bools, gold: Ints, *, skipped: int = 0) -> Score:
    """The mean over labels of how many more are right than before."""
    return stratified(right.astype(float) - than.astype(float), gold, (-1.0, 1.0), skipped)


def stratified(values: Floats, labels: Ints, ends: tuple[float, float], skipped: int = 0) -> Score:
    """The mean over labels of each label's mean, with a normal interval.

    One imagined example at each end joins each label for the interval (as Agresti and Coull do for shares): without them there
    is no doubt where all examples agree.
    """
    if not len(values):
        raise NothingToMeasure("no example to measure")
    present, variance, means = np.unique(labels), 0.0, []
    for label in present:
        own = values[labels == label]
        means.append(own.mean())
        wider = np.append(own, ends)
        variance += float(wider.var()) / len(wider)
    value, half = float(np.mean(means)), Z * sqrt(variance) / len(present)
    return Score(value, max(ends[0], value - half), min(ends[1], value + half), len(values), skipped)


def correlation(numbers: Floats, gold: Floats, *, skipped: int = 0) -> Score:
    """Spearman's rank correlation with a bootstrap over examples; 0 where every text gets the same number."""
    return _correlated([numbers], gold, skipped)


def correlation_difference(numbers: Floats, than: Floats, gold: Floats, *, skipped: int = 0) -> Score:
    """How much higher the rank correlation is, over the same examples."""
    return _correlated([numbers, than], gold, skipped)


def _correlated(answers: list[Floats], gold: Floats, skipped: int) -> Score:
    """One correlation, or the first less the second. Ranks are those of all examples, which resampling then weighs."""
    if len(gold) < FEWEST or np.ptp(gold) == 0:
        raise NothingToMeasure("rank correlation needs three examples and gold numbers that differ")
    ranked = [ranks(each[None, :])[0] for each in (gold, *answers)]

    def statistic(picks: Ints) -> Floats:
        first, *rest = [_pearson(ranked[0][picks], each[picks]) for each in ranked[1:]]
        return np.asarray(first - rest[0] if rest else first)

    value = float(statistic(np.arange(len(gold))[None, :])[0])
    low, high = resampled(statistic, len(gold))
    return Score(value, min(low, value), max(high, value), len(gold), skipped)


def _pearson(x: Floats, y: Floats) -> Floats:
    """Row by row; 0 where one side does not vary: it tells nothing."""
    a, b = (side - side.mean(axis=1, keepdims=True) for side in (x, y))
    below = np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))
    return np.where(below > 0, (a * b).sum(axis=1) / np.maximum(below, 1e-12), 0.0)
