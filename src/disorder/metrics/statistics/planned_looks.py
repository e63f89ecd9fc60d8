"""Planned looks: a run may stop at one of twenty sizes, and its intervals hold all the same.

The error of 5 % is divided beforehand (Bonferroni): 1 % among the looks before the last, 4 % at the
last. So any interval for a fixed sample may be looked at, that over families included; one that
ends a run early is wider than a fixed sample's, one at the end hardly so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist

N_LOOKS = 20
FIRST = 200  # examples
FEWEST_FAMILIES = 30  # at a look; one with fewer is passed over
EARLY_ERROR = 0.01
LAST_ERROR = 0.04


@dataclass(frozen=True, slots=True)
class PlannedLook:
    """A look after so many examples, with the normal point of its interval."""

    number: int
    n_examples: int
    z: float
    is_last: bool


def planned_looks(n_examples: int) -> list[PlannedLook]:
    """The looks at up to so many examples, at sizes that grow by the same factor.

    >>> [look.n_examples for look in planned_looks(4000)][:3], len(planned_looks(4000))
    ([200, 234, 274], 20)
    """
    sizes = sorted(set(_sizes(n_examples)))
    early = len(sizes) - 1
    looks = []
    for number, size in enumerate(sizes, start=1):
        is_last = number == len(sizes)
        error = LAST_ERROR if is_last else EARLY_ERROR / early
        if early == 0:
            error = EARLY_ERROR + LAST_ERROR
        looks.append(PlannedLook(number, size, NormalDist().inv_cdf(1 - error / 2), is_last))
    return looks


def _sizes(n_examples: int) -> Iterator[int]:
    first = min(FIRST, n_examples)
    for k in range(N_LOOKS):
        yield round(first * (n_examples / first) ** (k / (N_LOOKS - 1)))
