"""Paired differences of two scores of the same examples: tests and intervals.

Shares: the exact test of McNemar (1947) and Newcombe's (1998) interval, method 10. Means: examples
are resampled jointly and both scores computed again; the test flips the sign of what each example
adds to the difference. Ratios of skills: Fieller's intervals, combined. Holm (1979) over all. Our
own, because the core does without statsmodels; tests compare with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import exp, lgamma, log, sqrt
from statistics import NormalDist

import numpy as np

from disorder.metrics.statistics.decomposition import (
    BinnedGap,
    Decomposition,
    Mean,
    RankCorrelation,
    Share,
)
from disorder.metrics.statistics.intervals import PAIRED, Z, wilson
from disorder.metrics.statistics.skill_ratio import SkillRatio
from disorder.randomness import generator
from disorder.types import Bools, Floats, Ints

N_FLIPS = 9999
BLOCK = 400_000  # numbers held at once
LARGEST_Z = 40.0
STEPS = 40  # of a bisection


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """The other score minus the base's, with its 95 % interval, the p-value of no difference, and
    the examples it rests on.
    """

    difference: float
    low: float
    high: float
    p: float
    n: int
    test: str


def difference_of(
    base: Decomposition, other: Decomposition, *, seed: int = 0, family: Ints | None = None
) -> PairedDifference:
    """How two scores of the same examples differ. Where examples share a `family`, families are
    what signs are flipped of and what is resampled; ratios of skills know theirs themselves.
    """
    if family is not None and len(np.unique(family)) < len(family):
        return _over_families(base, other, family, seed)
    match base, other:
        case Share(), Share():
            return _of_shares(base.holds, other.holds)
        case Mean(), Mean():
            return _of_means(base, other, seed)
        case Share(), Mean():  # accuracy of one variant, against that of several
            return _of_means(Mean.over_all(base.values), other, seed)
        case Mean(), Share():
            return _of_means(base, Mean.over_all(other.values), seed)
        case RankCorrelation(), RankCorrelation():
            drawn = [
                other.resampled(p) - base.resampled(p) for p in PAIRED.picks(len(base.gold), seed)
            ]
            return _by_bootstrap(base, other, np.concatenate(drawn), len(base.gold))
        case BinnedGap(), BinnedGap():
            return _of_gaps(base, other, seed)
        case SkillRatio(), SkillRatio():
            return _of_ratios(RatioDifference(base, other))
    raise TypeError(f"{type(base).__name__} and {type(other).__name__} cannot be compared")


def _over_families(
    base: Decomposition, other: Decomposition, family: Ints, seed: int
) -> PairedDifference:
    """How two scores differ where examples come in families."""
    one, two = (
        Mean.over_all(side.values) if isinstance(side, Share) else side for side in (base, other)
    )
    if not isinstance(one, Mean) or not isinstance(two, Mean):
        return difference_of(base, other, seed=seed)
    return _of_means(one, two, seed, np.unique(family, return_inverse=True)[1])


def _of_shares(base: Bools, other: Bools) -> PairedDifference:
    gained = int((other & ~base).sum())
    lost = int((base & ~other).sum())
    n = len(base)
    low, high = newcombe(int((base & other).sum()), gained, lost, n)
    return PairedDifference((gained - lost) / n, low, high, mcnemar(gained, lost), n, "mcnemar")


def mcnemar(gained: int, lost: int) -> float:
    """The exact two-sided p-value, from the examples for which just one of two claims holds.

    >>> mcnemar(0, 0), mcnemar(5, 0), mcnemar(3, 3)
    (1.0, 0.0625, 1.0)
    """
    if gained == lost:
        return 1.0
    n = gained + lost
    fewer = min(gained, lost)
    terms = [
        lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) - n * log(2) for k in range(fewer, -1, -1)
    ]
    largest = terms[0]
    return min(1.0, 2 * exp(largest) * sum(exp(term - largest) for term in terms))


def newcombe(both: int, first: int, second: int, n: int) -> tuple[float, float]:
    """Newcombe's hybrid score interval (method 10) for first − second, the examples for which just
    one claim holds, of n.
    """
    p = (both + first) / n
    q = (both + second) / n
    p_low, p_high = wilson(p, n)
    q_low, q_high = wilson(q, n)
    phi = _phi(both, first, second, n - both - first - second)
    below = p - p_low
    above = p_high - p
    q_below = q - q_low
    q_above = q_high - q
    low = (p - q) - sqrt(max(0.0, below**2 - 2 * phi * below * q_above + q_above**2))
    high = (p - q) + sqrt(max(0.0, above**2 - 2 * phi * above * q_below + q_below**2))
    return max(-1.0, low), min(1.0, high)


def _phi(both: int, first: int, second: int, neither: int) -> float:
    """How much two claims go together, corrected for continuity."""
    margins = (both + first) * (second + neither) * (both + second) * (first + neither)
    if margins == 0:
        return 0.0
    excess = both * neither - first * second
    half = (both + first + second + neither) / 2
    corrected = excess if excess < 0 else max(0.0, excess - half)
    return corrected / sqrt(margins)


def _of_means(base: Mean, other: Mean, seed: int, family: Ints | None = None) -> PairedDifference:
    difference = other.value - base.value
    low, high = _resampled_means(base, other, seed, family)
    n = int((base.counts | other.counts).sum())
    added = contributions(base, other)
    if family is not None:
        added = np.asarray(np.bincount(family, added), dtype=np.float64)
    p = sign_flip(added, seed=seed)
    return PairedDifference(
        difference, min(low, difference), max(high, difference), p, n, "sign-flip"
    )


def _resampled_means(
    base: Mean, other: Mean, seed: int, family: Ints | None
) -> tuple[float, float]:
    """A percentile interval; in each resample both scores are computed again on the same examples.

    One imagined example that speaks for each model joins the resampling (as Bonett and Price do for
    paired shares, 2012): without them the interval has no width where the models never differ.
    """
    n = len(base.contributions) if family is None else int(family.max()) + 1
    differences = []
    for weights in PAIRED.weights(n + 2, seed):
        drawn = weights[:, :n] if family is None else weights[:, family]
        for_other = weights[:, n]
        for_base = weights[:, n + 1]
        imagined = for_other + for_base
        base_sum, base_n = base.weighted(drawn)
        other_sum, other_n = other.weighted(drawn)
        with np.errstate(invalid="ignore", divide="ignore"):
            first = (base_sum + for_base) / (base_n + imagined)
            differences.append((other_sum + for_other) / (other_n + imagined) - first)
    bounds = np.nanpercentile(np.concatenate(differences), (2.5, 97.5)) / base.span
    return float(bounds.min()), float(bounds.max())


def contributions(base: Mean, other: Mean) -> Floats:
    """What each example adds to the difference: they sum to it, and under no difference each is as
    likely to be negative.

    For a plain mean that is the example's own difference over n. Where a score rests on a model's
    own set of examples (p_c on those it predicts right), it is the distance from the mean of both
    models, over the size of that set.
    """
    classes = base.classes
    if classes is None:
        classes = np.zeros(len(base.contributions), dtype=np.int64)
    sums = np.zeros(classes.max() + 1)
    sizes = np.zeros(classes.max() + 1)
    for side in (base, other):
        np.add.at(sums, classes[side.counts], side.contributions[side.counts])
        np.add.at(sizes, classes[side.counts], 1.0)
    pooled = (sums / np.maximum(sizes, 1.0))[classes]
    shares = [
        np.where(side.counts, side.contributions - pooled, 0.0) / side.counts.sum()
        for side in (base, other)
    ]
    return np.asarray((shares[1] - shares[0]) / base.span)


def sign_flip(added: Floats, *, seed: int = 0) -> float:
    """The p-value of the sum of `added`, against sums in which each number has a sign at random.

    Where no random sum comes near, Hoeffding's (1963) bound says how rare it is at most.
    """
    added = added[np.abs(added) > 1e-15]
    if not len(added):
        return 1.0
    total = abs(float(added.sum()))
    n_reached = 0
    scaled = added / np.abs(added).max()
    # a sum that is equal but for rounding counts as reached
    limit = abs(float(scaled.sum())) * (1 - 1e-9)
    for sums in _flipped_sums(scaled, seed):
        n_reached += int((np.abs(sums) >= limit).sum())
    drawn = (n_reached + 1) / (N_FLIPS + 1)
    if n_reached:
        return drawn
    bound = 2 * exp(-(total**2) / (2 * float((added**2).sum())))
    return min(drawn, bound)


def _of_gaps(base: BinnedGap, other: BinnedGap, seed: int) -> PairedDifference:
    drawn = []
    for weights in PAIRED.weights(len(base.counts), seed):
        gaps = [np.abs(side.weighted(weights)).sum(axis=1) for side in (base, other)]
        drawn.append(gaps[1] - gaps[0])
    return _by_bootstrap(base, other, np.concatenate(drawn), len(base.counts))


def _by_bootstrap(
    base: Decomposition, other: Decomposition, drawn: Floats, n: int
) -> PairedDifference:
    """A percentile interval; the p-value is that of the widest interval that leaves 0 out."""
    difference = other.value - base.value
    drawn = drawn[~np.isnan(drawn)]
    low, high = np.percentile(drawn, (2.5, 97.5))
    least = min(int((drawn <= 0).sum()), int((drawn >= 0).sum()))
    p = min(1.0, 2 * (least + 1) / (len(drawn) + 1))
    return PairedDifference(
        difference, min(float(low), difference), max(float(high), difference), p, n, "bootstrap"
    )


def _of_ratios(found: RatioDifference) -> PairedDifference:
    for side in (found.base, found.other):
        side.score()  # raises where there is no ratio
    bounds = found.interval()
    assert bounds is not None
    low, high = bounds
    return PairedDifference(found.value, low, high, found.p(), len(found.base), "fieller")


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values adjusted so that one wrong finding among all of them is as rare as one alone claims.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    m = len(p_values)
    largest = 0.0
    adjusted = [0.0] * m
    for rank, i in enumerate(sorted(range(m), key=lambda i: p_values[i])):
        largest = max(largest, min(1.0, (m - rank) * p_values[i]))
        adjusted[i] = largest
    return adjusted


def _flipped_sums(added: Floats, seed: int) -> Iterator[Floats]:
    """Sums with random signs; a random byte picks one of the 256 sums that eight numbers have."""
    eights = np.pad(added, (0, -len(added) % 8)).reshape(-1, 8)
    bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)
    table = eights @ (bits * 2.0 - 1.0).T
    rng = generator(seed, "sign flips", str(len(added)))
    rows = np.arange(len(eights))
    left = N_FLIPS
    while left:
        size = min(left, max(1, BLOCK // len(eights)))
        picks = np.frombuffer(rng.bytes(size * len(eights)), dtype=np.uint8).reshape(size, -1)
        yield table[rows, picks].sum(axis=1)
        left -= size


@dataclass(frozen=True, eq=False)
class RatioDifference:
    """The ratio of another model minus that of the base, on the same examples.

    The interval is made of both ratios' own and of how they move together (Zou and Donner, 2008),
    as Newcombe's is for shares.
    """

    base: SkillRatio
    other: SkillRatio

    @property
    def value(self) -> float:
        """The difference."""
        return self.other.value - self.base.value

    def interval(self, z: float = Z) -> tuple[float, float] | None:
        """Its interval; None where one of the skills before may be none."""
        mine = self.base.interval(z)
        theirs = self.other.interval(z)
        if mine is None or theirs is None:
            return None
        r = self._together
        low = _combined(self.other.value - theirs[0], mine[1] - self.base.value, r)
        high = _combined(theirs[1] - self.other.value, self.base.value - mine[0], r)
        return self.value - low, self.value + high

    def p(self) -> float:
        """The p-value of no difference: that of the widest interval that leaves 0 out."""
        inside, outside = LARGEST_Z, 0.0
        for _ in range(STEPS):
            z = (inside + outside) / 2
            bounds = self.interval(z)
            if bounds is None or bounds[0] <= 0 <= bounds[1]:
                inside = z
            else:
                outside = z
        return min(1.0, 2 * NormalDist().cdf(-outside))

    @cached_property
    def _together(self) -> float:
        """The correlation of both ratios; imagined examples are not shared, so that models that
        never differ have less than 1.
        """
        contrasts = [np.array([1.0, -side.value]) for side in (self.base, self.other)]
        moved = [
            side.deviations @ contrast
            for side, contrast in zip((self.base, self.other), contrasts, strict=True)
        ]
        variances = [
            float(contrast @ side.covariance @ contrast)
            for side, contrast in zip((self.base, self.other), contrasts, strict=True)
        ]
        return float(moved[0] @ moved[1]) / sqrt(variances[0] * variances[1])


def _combined(first: float, second: float, correlation: float) -> float:
    return sqrt(max(0.0, first**2 - 2 * correlation * first * second + second**2))
