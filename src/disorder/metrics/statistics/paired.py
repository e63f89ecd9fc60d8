"""Do two models differ, asked about the same examples? Tests and intervals for paired differences.

Shares: the exact test of McNemar (1947) and Newcombe's (1998) interval, method 10. Means: examples
are resampled jointly and both scores computed again; the test flips the sign of what each example
adds to the difference. Holm (1979) over all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp, lgamma, log, sqrt

import numpy as np
from numpy.typing import NDArray

from disorder.metrics.statistics.decomposition import Claims, Means, Ranks
from disorder.metrics.statistics.intervals import wilson
from disorder.randomness import generator
from disorder.types import Bools, Floats, Ints

N_RESAMPLES = 2000
N_FLIPS = 9999
BLOCK = 400_000  # numbers held at once
HELD = 10_000  # examples up to which resamples are kept
Taken = Claims | Means | Ranks


@dataclass(frozen=True, slots=True)
class Paired:
    """The other score minus the base's, with its 95 % interval, the p-value of no difference, and
    the examples it rests on.
    """

    difference: float
    low: float
    high: float
    p: float
    n: int
    test: str


def difference_of(base: Taken, other: Taken, *, seed: int = 0) -> Paired:
    """How two scores of the same examples differ."""
    if isinstance(base, Claims) and isinstance(other, Claims):
        return _of_claims(base.holds, other.holds)
    if isinstance(base, Ranks) and isinstance(other, Ranks):
        return _of_ranks(base, other, seed)
    assert isinstance(base, Means)
    assert isinstance(other, Means)
    return _of_means(base, other, seed)


def _of_claims(base: Bools, other: Bools) -> Paired:
    gained, lost, n = int((other & ~base).sum()), int((base & ~other).sum()), len(base)
    low, high = newcombe(int((base & other).sum()), gained, lost, n)
    return Paired((gained - lost) / n, low, high, mcnemar(gained, lost), n, "mcnemar")


def mcnemar(gained: int, lost: int) -> float:
    """The exact two-sided p-value, from the examples for which just one of two claims holds.

    >>> mcnemar(0, 0), mcnemar(5, 0), mcnemar(3, 3)
    (1.0, 0.0625, 1.0)
    """
    n, fewer = gained + lost, min(gained, lost)
    if gained == lost:
        return 1.0
    terms = [
        lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) - n * log(2) for k in range(fewer, -1, -1)
    ]
    largest = terms[0]
    return min(1.0, 2 * exp(largest) * sum(exp(term - largest) for term in terms))


def newcombe(both: int, first: int, second: int, n: int) -> tuple[float, float]:
    """Newcombe's hybrid score interval (method 10) for first − second, the examples for which just
    one claim holds, of n.
    """
    p, q, neither = (both + first) / n, (both + second) / n, n - both - first - second
    (p_low, p_high), (q_low, q_high) = wilson(p, n), wilson(q, n)
    phi = _phi(both, first, second, neither)
    below, above = p - p_low, p_high - p
    q_below, q_above = q - q_low, q_high - q
    low = (p - q) - sqrt(max(0.0, below**2 - 2 * phi * below * q_above + q_above**2))
    high = (p - q) + sqrt(max(0.0, above**2 - 2 * phi * above * q_below + q_below**2))
    return max(-1.0, low), min(1.0, high)


def _phi(both: int, first: int, second: int, neither: int) -> float:
    """How much two claims go together, corrected for continuity."""
    margins = (both + first) * (second + neither) * (both + second) * (first + neither)
    if margins == 0:
        return 0.0
    excess, half = both * neither - first * second, (both + first + second + neither) / 2
    return (excess if excess < 0 else max(0.0, excess - half)) / sqrt(margins)


def _of_means(base: Means, other: Means, seed: int) -> Paired:
    difference = other.value - base.value
    low, high = _resampled_means(base, other, seed)
    n = int((base.counts | other.counts).sum())
    p = sign_flip(contributions(base, other), seed=seed)
    return Paired(difference, min(low, difference), max(high, difference), p, n, "sign-flip")


def _resampled_means(base: Means, other: Means, seed: int) -> tuple[float, float]:
    """A percentile interval; in each resample both scores are computed again on the same examples.

    One imagined example that speaks for each model joins the resampling (as Bonett and Price do for
    paired shares, 2012): without them resampling sees no doubt where the models never differ.
    """
    n, differences = len(base.values), []
    for weights in _weights(n + 2, seed):
        for_other, for_base = weights[:, n], weights[:, n + 1]
        imagined = for_other + for_base
        (base_sum, base_n), (other_sum, other_n) = (
            base.weighted(weights[:, :n]),
            other.weighted(weights[:, :n]),
        )
        with np.errstate(invalid="ignore", divide="ignore"):
            first = (base_sum + for_base) / (base_n + imagined)
            differences.append((other_sum + for_other) / (other_n + imagined) - first)
    low, high = sorted(
        base.scale * bound for bound in np.nanpercentile(np.concatenate(differences), (2.5, 97.5))
    )
    return float(low), float(high)


def contributions(base: Means, other: Means) -> Floats:
    """What each example adds to the difference: they sum to it, and under no difference each is as
    likely to be negative.

    For a plain mean that is the example's own difference over n. Where a score rests on a model's
    own set of examples (p_c on those it answered right), it is the distance from the mean of both
    models, over the size of that set.
    """
    classes = np.zeros(len(base.values), dtype=np.int64) if base.classes is None else base.classes
    sums, sizes = np.zeros(classes.max() + 1), np.zeros(classes.max() + 1)
    for side in (base, other):
        np.add.at(sums, classes[side.counts], side.values[side.counts])
        np.add.at(sizes, classes[side.counts], 1.0)
    pooled = (sums / np.maximum(sizes, 1.0))[classes]
    shares = [
        np.where(side.counts, side.values - pooled, 0.0) / side.counts.sum()
        for side in (base, other)
    ]
    return np.asarray(base.scale * (shares[1] - shares[0]))


def sign_flip(added: Floats, *, seed: int = 0) -> float:
    """The p-value of the sum of `added`, against sums in which each number has a sign at random.

    Where no random sum comes near, Hoeffding's (1963) bound says how rare it is at most.
    """
    added = added[np.abs(added) > 1e-15]
    if not len(added):
        return 1.0
    total, n_reached = abs(float(added.sum())), 0
    scaled = added / np.abs(added).max()
    limit = abs(float(scaled.sum())) * (
        1 - 1e-9
    )  # a sum that is equal but for rounding counts as reached
    for sums in _flipped_sums(scaled, seed):
        n_reached += int((np.abs(sums) >= limit).sum())
    drawn = (n_reached + 1) / (N_FLIPS + 1)
    return drawn if n_reached else min(drawn, 2 * exp(-(total**2) / (2 * float((added**2).sum()))))


def _of_ranks(base: Ranks, other: Ranks, seed: int) -> Paired:
    """A percentile interval; the p-value is that of the widest interval that leaves 0 out."""
    difference = other.value - base.value
    drawn = np.concatenate(
        [other.resampled(p) - base.resampled(p) for p in _resamples(len(base.gold), seed)]
    )
    drawn = drawn[~np.isnan(drawn)]
    low, high = np.percentile(drawn, (2.5, 97.5))
    least = min(int((drawn <= 0).sum()), int((drawn >= 0).sum()))
    p = min(1.0, 2 * (least + 1) / (len(drawn) + 1))
    return Paired(
        difference,
        min(float(low), difference),
        max(float(high), difference),
        p,
        len(base.gold),
        "bootstrap",
    )


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values adjusted so that one wrong finding among all of them is as rare as one alone claims.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    m, largest = len(p_values), 0.0
    adjusted = [0.0] * m
    for rank, i in enumerate(sorted(range(m), key=lambda i: p_values[i])):
        largest = max(largest, min(1.0, (m - rank) * p_values[i]))
        adjusted[i] = largest
    return adjusted


def _resamples(n: int, seed: int) -> Iterator[Ints]:
    """Example numbers drawn with replacement, some resamples at a time; the same for all scores of
    n examples.
    """
    rng, left = generator(seed, "paired bootstrap", str(n)), N_RESAMPLES
    while left:
        size = min(left, max(1, BLOCK // n))
        yield rng.integers(n, size=(size, n))
        left -= size


def _weights(n: int, seed: int) -> Iterator[Floats]:
    """How often each resample takes each example, some resamples at a time."""
    blocks = (
        _held_counts(n, seed) if n <= HELD else (_counts(picks, n) for picks in _resamples(n, seed))
    )
    return (block.astype(np.float64) for block in blocks)


@lru_cache(maxsize=2)
def _held_counts(n: int, seed: int) -> list[NDArray[np.uint8]]:
    """Counts are small: a byte each, so that they can be kept for the other scores of n examples."""
    return [_counts(picks, n) for picks in _resamples(n, seed)]


def _counts(picks: Ints, n: int) -> NDArray[np.uint8]:
    shifted = picks + np.arange(len(picks))[:, None] * n
    return (
        np.bincount(shifted.ravel(), minlength=len(picks) * n)
        .reshape(len(picks), n)
        .astype(np.uint8)
    )


def _flipped_sums(added: Floats, seed: int) -> Iterator[Floats]:
    """Sums with random signs: a random byte picks one of the 256 sums that eight numbers can have."""
    eights = np.pad(added, (0, -len(added) % 8)).reshape(-1, 8)
    table = eights @ (np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1) * 2.0 - 1.0).T
    rng, left, rows = (
        generator(seed, "sign flips", str(len(added))),
        N_FLIPS,
        np.arange(len(eights)),
    )
    while left:
        size = min(left, max(1, BLOCK // len(eights)))
        picks = np.frombuffer(rng.bytes(size * len(eights)), dtype=np.uint8).reshape(size, -1)
        yield table[rows, picks].sum(axis=1)
        left -= size
