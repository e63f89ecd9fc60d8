"""Intervals: Wilson for shares of examples, a bootstrap over examples for everything else.

Our own, because the core does without scipy and statsmodels; tests compare with both. The unit of a
bootstrap is the example: its variants are a cluster and are never resampled on their own. All
scores of n examples share their resamples, so that they can be compared.

Examples that share a text are one observation: the variance over families leaves out one family at
a time and computes the scores, balanced over labels, again; degrees of freedom are those of the
effective number of families, 1 ÷ Σ share².
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, log10, pi, sqrt, tan
from statistics import NormalDist
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from disorder.errors import NothingToMeasure
from disorder.randomness import generator
from disorder.types import Bools, Floats, Ints, Score

Z = 1.959963984540054  # two-sided 95 %


@dataclass(frozen=True)
class Bootstrap:
    """How often to resample, keyed by what for; `held` is up to how many examples counts are kept.

    Counts of how often a resample takes an example are kept for the next score: at a byte per
    example and resample, more would be seen in the memory.
    """

    key: str
    n_resamples: int
    block: int  # numbers held at once
    held: int

    def picks(self, n: int, seed: int = 0) -> Iterator[Ints]:
        """Example numbers drawn with replacement, some resamples at a time."""
        rng = generator(seed, self.key, str(n))
        left = self.n_resamples
        while left:
            size = min(left, max(1, self.block // n))
            yield rng.integers(n, size=(size, n))
            left -= size

    def weights(self, n: int, seed: int = 0) -> Iterator[Floats]:
        """How often each resample takes each example, some resamples at a time."""
        if n <= self.held:
            blocks: Iterator[NDArray[np.uint8]] = iter(_held_counts(self, n, seed))
        else:
            blocks = (_counts(picks, n) for picks in self.picks(n, seed))
        return (block.astype(np.float64) for block in blocks)


ONE_SCORE = Bootstrap("bootstrap", n_resamples=1000, block=200_000, held=1_000)
PAIRED = Bootstrap("paired bootstrap", n_resamples=2000, block=400_000, held=10_000)


@lru_cache(maxsize=6)
def _held_counts(bootstrap: Bootstrap, n: int, seed: int) -> list[NDArray[np.uint8]]:
    return [_counts(picks, n) for picks in bootstrap.picks(n, seed)]


def _counts(picks: Ints, n: int) -> NDArray[np.uint8]:
    shifted = picks + np.arange(len(picks))[:, None] * n
    counts = np.bincount(shifted.ravel(), minlength=len(picks) * n)
    return counts.reshape(len(picks), n).astype(np.uint8)


def share(claims: Bools | Ints, *, skipped: int = 0) -> Score:
    """The share of examples for which a claim holds, with Wilson's interval."""
    n = _counted(claims)
    value = int(np.count_nonzero(claims)) / n
    low, high = wilson(value, n)
    return Score(value, low, high, n, skipped)


def wilson(value: float, n: int, z: float = Z) -> tuple[float, float]:
    """Wilson's interval for a share of n independent examples, by default at 95 %."""
    centre = (value + z * z / (2 * n)) / (1 + z * z / n)
    half = z * sqrt(value * (1 - value) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    low = 0.0 if value == 0 else max(0.0, centre - half)
    high = 1.0 if value == 1 else min(1.0, centre + half)
    return low, high


def mean(values: Floats, *, skipped: int = 0) -> Score:
    """The mean of one number in [0, 1] per example, with a percentile bootstrap over examples.

    One imagined example at each end joins the resampling (as Agresti and Coull do for shares):
    without them the interval has no width where all examples agree.
    """
    n = _counted(values)
    value = float(np.mean(values, dtype=np.float64))
    drawn = np.concatenate([values, [0.0, 1.0]])
    low, high = np.percentile(np.concatenate([w @ drawn for w in _shares(len(drawn))]), (2.5, 97.5))
    high = min(float(high), 1.0)  # weights may add up to a last digit more than one
    return Score(value, min(float(low), value), max(high, value), n, skipped)


def ratio(parts: Floats, wholes: Floats, *, skipped: int = 0) -> Score:
    """Sum of parts ÷ sum of wholes, one of each per example, with a percentile bootstrap over
    examples.

    Examples whose whole is 0 do not count. One imagined example of usual size at each end joins, as
    in `mean`.
    """
    held = wholes > 0
    n = _counted(wholes[held])
    usual = float(wholes[held].mean())
    tops = np.append(parts[held], [0.0, usual])
    bottoms = np.append(wholes[held], [usual, usual])
    value = float(parts[held].sum() / wholes[held].sum())
    drawn = np.concatenate([(w @ tops) / (w @ bottoms) for w in _shares(n + 2)])
    low, high = np.percentile(drawn, (2.5, 97.5))
    return Score(value, min(float(low), value), max(float(high), value), n, skipped)


def has_shared(family: Ints | None) -> TypeGuard[Ints]:
    """Whether some examples are of one family."""
    return family is not None and len(np.unique(family)) < len(family)


def mean_over_families(values: Floats, family: Ints, *, skipped: int = 0) -> Score:
    """The mean of one number in [0, 1] per example, with a bootstrap over families: sums of values
    ÷ sizes, wider by Student's t as there are few of them.
    """
    place = np.unique(family, return_inverse=True)[1]
    sizes = np.bincount(place).astype(np.float64)
    found = ratio(np.bincount(place, values).astype(np.float64), sizes)
    n_effective = max(2, int(sizes.sum() ** 2 / (sizes**2).sum()))
    wide = widened(found.value, found.low, found.high, n_effective)
    return Score(found.value, max(0.0, wide.low), min(1.0, wide.high), len(values), skipped)


def average(values: Floats, *, skipped: int = 0) -> Score:
    """The mean of one number of any size or sign per example, with a bootstrap over examples; two
    are needed for an interval.
    """
    n = _counted(values)
    if n < 2:
        raise NothingToMeasure("one example has no interval: two or more are needed")
    value = float(np.mean(values, dtype=np.float64))
    low, high = resampled(lambda block: np.asarray(values[block].mean(axis=1)), n)
    return widened(value, low, high, n, skipped=skipped)


def widened(value: float, low: float, high: float, n: int, *, skipped: int = 0) -> Score:
    """A percentile interval made wider by Student's t over the normal: with few examples a
    bootstrap is too narrow.
    """
    factor = sqrt(n / (n - 1)) * student(n - 1) / Z
    return Score(
        value,
        value - factor * max(0.0, value - low),
        value + factor * max(0.0, high - value),
        n,
        skipped,
    )


def student(freedom: int, z: float = Z) -> float:
    """The two-sided 95 % point of Student's t, to three digits: exact for 1 and 2, else by its
    expansion around the normal. Another `z` gives the point that the normal has at z.
    """
    if freedom < 3:
        return _student_exactly(freedom, z)
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    fourth = (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160
    return z + first / freedom + second / freedom**2 + third / freedom**3 + fourth / freedom**4


def _student_exactly(freedom: int, z: float) -> float:
    """With 1 or 2 degrees of freedom the distribution has a closed form."""
    if z == Z:
        return {1: 12.706204736, 2: 4.302652730}[freedom]
    above = max(NormalDist().cdf(-z), 1e-300)  # the share in the upper tail
    if freedom == 1:
        return 1 / tan(pi * above)
    return (1 - 2 * above) / sqrt(2 * above * (1 - above))


def resampled(statistic: Callable[[Ints], Floats], n: int) -> tuple[float, float]:
    """A percentile interval for any statistic of resampled example numbers (a block of resamples ×
    n).
    """
    values = np.concatenate([statistic(block) for block in ONE_SCORE.picks(n)])
    low, high = np.nanpercentile(values, (2.5, 97.5))
    return float(low), float(high)


def _counted(values: NDArray[Any]) -> int:
    if len(values) == 0:
        raise NothingToMeasure("no example to measure")
    return len(values)


def _shares(n: int) -> Iterator[Floats]:
    """How often each resample takes each example, as shares of n."""
    return (counts / n for counts in ONE_SCORE.weights(n))


def two_digits(number: float) -> int:
    """A number of examples, rounded up to two digits; at least 1.

    >>> two_digits(0.2), two_digits(31.2), two_digits(1234.5)
    (1, 32, 1300)
    """
    unit: int = 10 ** max(0, int(log10(max(1.0, number))) - 1)
    return max(1, ceil(number / unit)) * unit


@dataclass(frozen=True, eq=False)
class FamilyMoves:
    """How far each family moves means that are balanced over labels.

    `deviations` has a row per family, so that their variance is deviations.T @ deviations; `cells`
    the same for each family and label that it has, with `cell_label`. `effective` is the number of
    families of equal size that would count as much, `effective_by_label` the same of each label.
    """

    deviations: Floats
    cells: Floats
    cell_label: Ints
    effective: float
    effective_by_label: Floats


def moves_of_families(family: Ints, label: Ints, scores: Floats) -> FamilyMoves:
    """What leaving out each family changes; `label` numbers from 0, `scores` a column per mean."""
    groups, place = np.unique(family, return_inverse=True)
    n_groups = len(groups)
    n_labels = int(label.max()) + 1
    cell, member = np.unique(place * n_labels + label, return_inverse=True)
    cell_group, cell_label = np.divmod(cell, n_labels)
    n_cell = np.bincount(member).astype(np.float64)
    n_label = np.bincount(label, minlength=n_labels).astype(np.float64)
    sums_of_cells = _sums(member, scores, len(cell))
    sums_of_labels = _sums(label, scores, n_labels)
    others = np.maximum(n_label[cell_label] - n_cell, 1)[:, None]
    without = (sums_of_labels[cell_label] - sums_of_cells) / others
    means = (sums_of_labels / n_label[:, None])[cell_label]
    is_alone = n_label[cell_label] == n_cell  # a label of one family cannot do without it
    moved = np.where(is_alone[:, None], 0.0, without - means) / n_labels
    moved *= sqrt((n_groups - 1) / n_groups)
    shares = np.bincount(cell_group, n_cell / (n_labels * n_label[cell_label]))
    return FamilyMoves(
        deviations=_sums(cell_group, moved, n_groups),
        cells=moved,
        cell_label=cell_label,
        effective=effective_number(shares),
        effective_by_label=n_label**2 / np.bincount(cell_label, n_cell**2, minlength=n_labels),
    )


def effective_number(sizes: Floats | Ints) -> float:
    """How many families of equal size would count as much as families of these sizes.

    >>> effective_number(np.array([2, 2, 2])), effective_number(np.array([8, 1, 1]))
    (3.0, 1.5151515151515151)
    """
    return float(sizes.sum()) ** 2 / float((sizes.astype(np.float64) ** 2).sum())


def family_sizes(family: Ints) -> Ints:
    """How many examples each family has."""
    return np.unique(family, return_counts=True)[1]


def _sums(place: Ints, columns: Floats, n: int) -> Floats:
    return np.stack([np.bincount(place, column, minlength=n) for column in columns.T], axis=1)
