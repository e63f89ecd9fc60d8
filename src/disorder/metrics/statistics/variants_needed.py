"""How many variants per example are worth their cost: q follows from where the variance lies.

λ = variance within examples ÷ variance between them. Where all examples are used, more variants
only narrow what is within them; where examples are plentiful, another example is the better buy.
"""

from __future__ import annotations

from math import ceil, sqrt

import numpy as np

from disorder.types import Floats, Ints

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
