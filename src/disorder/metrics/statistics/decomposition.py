"""Decompositions: what each example contributes to a score.

A metric returns one of these, and everything else follows from it: value and interval (`score`),
paired difference (statistics/paired.py), stopping rule (`values`), early decisions (`limit`).

Also where the variance of a score lies: within examples or between them, from which follows how
many variants each one takes; and between questions and prompts where both are drawn and crossed:
V = V_questions + V_prompts − V_residual, with Satterthwaite's degrees of freedom. A bootstrap over
both is too narrow with few prompts.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, sqrt
from typing import Protocol

import numpy as np

from disorder.errors import NothingToMeasure
from disorder.metrics.statistics.intervals import (
    ONE_SCORE,
    has_shared,
    mean,
    mean_over_families,
    resampled,
    share,
    student,
)
from disorder.metrics.statistics.ranks import rank_correlation
from disorder.types import Bools, Floats, Ints, Score

FEW_COLUMNS = 10  # columns of predictions that are resampled; more would only cost time


class Decomposition(Protocol):
    """A score, taken apart by example."""

    @property
    def value(self) -> float:
        """The score itself."""

    def score(self, *, skipped: int = 0, family: Ints | None = None) -> Score:
        """The score with its interval; `skipped` examples were left out before. Examples of one
        `family` are one observation.
        """


@dataclass(frozen=True, eq=False)
class Share:
    """A share: for which examples a claim holds.

    `limit` is set where the claim is "more than this share of the variants is accepted" (1: all of
    them): then an example is decided as soon as its count can no longer cross.
    """

    holds: Bools
    limit: Fraction | None = None

    @property
    def value(self) -> float:
        """The share of examples."""
        return int(self.holds.sum()) / len(self.holds)

    @property
    def values(self) -> Floats:
        """0 or 1 for each example."""
        return self.holds.astype(np.float64)

    def in_units(self, x: float) -> float:
        """A share is its own unit."""
        return x

    def score(self, *, skipped: int = 0, family: Ints | None = None) -> Score:
        """The share with Wilson's interval; over families with a bootstrap of them."""
        if has_shared(family):
            return mean_over_families(self.values, family, skipped=skipped)
        return share(self.holds, skipped=skipped)


@dataclass(frozen=True, eq=False)
class Mean:
    """A mean over the examples that count: (mean of `contributions` − origin) ÷ span.

    Contributions lie in 0..1. For a mean over balanced classes `classes` says which class an
    example is in, and `order` lists those that may count, in the order in which they are taken: a
    resample is balanced again. `n_left_out` are examples that the metric itself leaves out.
    """

    contributions: Floats
    counts: Bools
    origin: float = 0.0
    span: float = 1.0
    classes: Ints | None = None
    order: Ints | None = None
    n_left_out: int = 0

    @classmethod
    def over(cls, contributions: Floats, counts: Bools, *, otherwise: str) -> Mean:
        """A mean over some examples; `otherwise` is the reason where none counts."""
        if not counts.any():
            raise NothingToMeasure(otherwise)
        return cls(np.where(counts, contributions, 0.0).astype(np.float64), counts)

    @classmethod
    def over_all(cls, contributions: Floats) -> Mean:
        """A mean over all examples."""
        everyone = np.ones(len(contributions), dtype=bool)
        return cls.over(contributions, everyone, otherwise="no example to measure")

    @property
    def value(self) -> float:
        """The score."""
        return self.in_units(float(self.contributions[self.counts].mean()))

    @property
    def is_within_bounds(self) -> bool:
        """Whether all contributions are numbers from 0 to 1, as the interval needs."""
        return bool(((self.values >= 0) & (self.values <= 1)).all())

    @property
    def values(self) -> Floats:
        """One contribution for each example that counts."""
        return self.contributions[self.counts]

    def in_units(self, x: float) -> float:
        """A mean contribution as a score."""
        return (x - self.origin) / self.span + 0.0

    def score(self, *, skipped: int = 0, family: Ints | None = None) -> Score:
        """The score with a bootstrap interval over examples, or families of them."""
        own = None if family is None else family[self.counts]
        n_left_out = skipped + self.n_left_out
        if has_shared(own):
            plain = mean_over_families(self.values, own, skipped=n_left_out)
        else:
            plain = mean(self.values, skipped=n_left_out)
        low, high = sorted((self.in_units(plain.low), self.in_units(plain.high)))
        return Score(self.in_units(plain.value), low, high, plain.n, plain.skipped)

    def weighted(self, weights: Floats) -> tuple[Floats, Floats]:
        """Sum of contributions and number of examples, per row of weights (one per resample)."""
        if self.classes is None or self.order is None:
            sums = weights @ np.where(self.counts, self.contributions, 0.0)
            return sums, weights @ self.counts.astype(np.float64)
        kept = _balanced(weights, self.classes, self.order)
        return kept @ self.contributions, kept.sum(axis=1)


def _balanced(weights: Floats, classes: Ints, order: Ints) -> Floats:
    """As much weight of every class as the smallest one has, taken in `order`."""
    members = [order[classes[order] == label] for label in np.unique(classes)]
    least = np.min([weights[:, who].sum(axis=1) for who in members], axis=0)[:, None]
    kept = np.zeros_like(weights)
    for who in members:
        part = weights[:, who]
        before = np.cumsum(part, axis=1) - part
        kept[:, who] = np.clip(least - before, 0, part)
    return kept


@dataclass(frozen=True, eq=False)
class RankCorrelation:
    """A rank correlation of gold with each column of predictions, averaged over columns."""

    gold: Floats
    predictions: Floats

    @property
    def value(self) -> float:
        """The score."""
        everyone = np.arange(len(self.gold))[None, :]
        return float(self._correlations(everyone, self.predictions)[0])

    def score(self, *, skipped: int = 0, family: Ints | None = None) -> Score:
        """The score with a bootstrap interval over examples, whatever their families."""
        value = self.value
        if np.isnan(value):
            raise NothingToMeasure("the model gives every text the same number")
        low, high = resampled(self.resampled, len(self.gold))
        return Score(value, min(low, value), max(high, value), len(self.gold), skipped)

    def resampled(self, picks: Ints) -> Floats:
        """The score of each row of example numbers; a few columns are enough for that."""
        return self._correlations(picks, self.predictions[:, :FEW_COLUMNS])

    def _correlations(self, picks: Ints, predictions: Floats) -> Floats:
        gold = self.gold[picks]
        columns = [rank_correlation(gold, column[picks]) for column in predictions.T]
        return np.asarray(np.mean(columns, axis=0))


@dataclass(frozen=True, eq=False)
class BinnedGap:
    """A sum of distances over bins: Σ over bins |Σ over examples of gap| ÷ Σ counts.

    `gaps` has one column per bin, `counts` how many predictions each example has.
    """

    gaps: Floats
    counts: Ints

    @property
    def value(self) -> float:
        """The score."""
        return float(np.abs(self.gaps.sum(axis=0) / self.counts.sum()).sum())

    def score(self, *, skipped: int = 0, family: Ints | None = None) -> Score:
        """The score with an interval that allows for its upward bias.

        Distances add up chance: this estimate lies too high, and its resamples higher. The true
        value is at least the estimate minus how far the bins move by chance (the triangle
        inequality), so a calibrated model keeps an interval from 0.
        """
        used = self.counts > 0
        kept = BinnedGap(self.gaps[used], self.counts[used])
        n_used = len(kept.counts)
        if family is not None and has_shared(family[used]):
            kept = kept.summed(family[used])
        n = len(kept.counts)
        found = kept.gaps.sum(axis=0) / kept.counts.sum()
        drawn = np.concatenate([kept.weighted(weights) for weights in ONE_SCORE.weights(n)])
        moved = np.abs(drawn - found).sum(axis=1)
        low = self.value - float(np.nanpercentile(moved, 97.5))
        high = float(np.nanpercentile(np.abs(drawn).sum(axis=1), 97.5))
        return Score(self.value, max(0.0, low), min(1.0, max(high, self.value)), n_used, skipped)

    def summed(self, family: Ints) -> BinnedGap:
        """The same with a row per family."""
        place = np.unique(family, return_inverse=True)[1]
        n = int(place.max()) + 1
        counts = np.bincount(place, self.counts, minlength=n).astype(np.int64)
        gaps = [np.bincount(place, column, minlength=n) for column in self.gaps.T]
        return BinnedGap(np.stack(gaps, axis=1), counts)

    def weighted(self, weights: Floats) -> Floats:
        """The mean gap of each bin, per row of weights (resamples × examples); NaN where a resample
        has no prediction.
        """
        counts = weights @ self.counts
        return np.asarray((weights @ self.gaps) / np.where(counts > 0, counts, np.nan)[:, None])


FEWEST_PROMPTS = 3  # below: a spread, no interval


@dataclass(frozen=True)
class VarianceLedger:
    """What questions, prompts and the rest add to the variance of a mean."""

    questions: float
    prompts: float
    residual: float

    @property
    def total(self) -> float:
        """The variance of the mean; never less than what either adds alone."""
        return max(self.questions + self.prompts - self.residual, self.questions, self.prompts)


def variance_ledger(values: Floats) -> VarianceLedger:
    """The parts of the variance of a mean; a row per question, a column per prompt."""
    n, k = values.shape
    rows = values.mean(axis=1)
    columns = values.mean(axis=0)
    rest = values - rows[:, None] - columns + values.mean()
    return VarianceLedger(
        questions=float(rows.var(ddof=1)) / n,
        prompts=float(columns.var(ddof=1)) / k,
        residual=float((rest**2).sum()) / ((n - 1) * (k - 1)) / (n * k),
    )


def crossed_mean(values: Floats) -> Score:
    """The mean over questions (rows) and prompts (columns), with an interval for others of both."""
    n, k = values.shape
    if k < FEWEST_PROMPTS or n < 2:
        raise NothingToMeasure(
            f"an interval over prompts needs {FEWEST_PROMPTS} of them, and two questions"
        )
    parts = variance_ledger(values)
    spent = (
        parts.questions**2 / (n - 1)
        + parts.prompts**2 / (k - 1)
        + parts.residual**2 / ((n - 1) * (k - 1))
    )
    freedom = max(1, floor(parts.total**2 / spent + 1e-9)) if spent else n - 1
    value = float(values.mean())
    half = student(freedom) * sqrt(parts.total)
    return Score(value, value - half, value + half, n)


WIDER = 0.1025  # 1.05² − 1: at most 5 % wider than with any number of variants
EVERY_EXAMPLE = (5, 10)  # the fewest and the most variants
PLENTIFUL = (2, 5)
BESIDE = 2  # texts per example that are no variants: the original and the control
NOTHING = 1e-12


def variance_ratio(
    label: Ints, before: Floats, after: Floats, ratio: float, family: Ints | None = None
) -> float:
    """λ of after − ratio · before, by families; `after` has a column per variant, NaN where one is
    missing. 0 where nothing lies between examples, as for a bag of words.
    """
    n_variants = np.maximum(1, (~np.isnan(after)).sum(axis=1))
    moved = np.nanmean(after, axis=1) - ratio * before
    centred = moved - _means(label, moved)
    within = np.nan_to_num(np.nanvar(after, axis=1)) * n_variants / np.maximum(1, n_variants - 1)
    unit = np.arange(len(label)) if family is None else np.unique(family, return_inverse=True)[1]
    sums = np.bincount(unit, centred)
    inside = float(np.bincount(unit, within).mean())
    noise = float(np.bincount(unit, within / n_variants).mean())
    between = float(sums.var(ddof=1)) - noise if len(sums) > 1 else 0.0
    return inside / between if between > NOTHING else 0.0


def variants_needed(ratio: float, *, is_plentiful: bool) -> int:
    """q for this λ.

    >>> [variants_needed(x, is_plentiful=False) for x in (0, 0.68, 3)]
    [5, 7, 10]
    >>> [variants_needed(x, is_plentiful=True) for x in (0, 4.5, 30)]
    [2, 3, 5]
    """
    fewest, most = PLENTIFUL if is_plentiful else EVERY_EXAMPLE
    wanted = round(sqrt(BESIDE * ratio)) if is_plentiful else ceil(ratio / WIDER - 1e-9)
    return min(most, max(fewest, wanted))


def _means(label: Ints, values: Floats) -> Floats:
    """The mean of each example's label."""
    sizes = np.bincount(label)
    return np.asarray((np.bincount(label, values) / np.maximum(sizes, 1))[label])
