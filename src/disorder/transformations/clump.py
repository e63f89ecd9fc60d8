"""Keep a run of words together and move all else: how much local order does a model need?

UnNatural Language Inference (Sinha et al., 2021), Appendix D: 25, 50 or 75 % of the words are glued
and move as one.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from disorder.errors import BadSetting
from disorder.registry import transformation
from disorder.transformations.derange import derangements
from disorder.transformations.positions.orders import (
    LISTED,
    expand,
    n_derangements,
    reorder,
    without_repeats,
)
from disorder.types import Ints, PositionRows, Sentence


@transformation(
    keeps="words, one run of neighbours",
    keeps_words=True,
    destroys="the rest of the order",
    paper="UNLI",
    side="both",
)
def clump(sentence: Sentence, rng: Generator, count: int, *, share: float = 0.5) -> PositionRows:
    """Glue a random run of `share` of the words into one and move everything; the final punctuation
    stays.
    """
    if not 0 < share < 1:
        raise BadSetting("clump", share=share, need="a share between 0 and 1")
    n = len(sentence.body)
    length = max(1, round(share * n))
    n_units = n - length + 1
    is_listed = 0 <= n_units <= LISTED - 1
    rows = _every(n, length, rng) if is_listed else _drawn(n, length, count, rng)
    return reorder(sentence, rows[:count], available=len(rows) if is_listed else None)


def _runs(n: int, length: int, start: int) -> Ints:
    """Which unit each word belongs to when the run begins at `start`."""
    return np.arange(n) - np.clip(np.arange(n) - start, 0, length - 1)


def _every(n: int, length: int, rng: Generator) -> Ints:
    """All rows that exist, in random order."""
    n_units = n - length + 1
    orders = derangements(n_units, n_derangements(n_units), rng)[0]
    rows = [_units(n, length, start, orders) for start in range(n_units)]
    distinct = without_repeats(np.concatenate([*rows, np.empty((0, n), dtype=np.int64)]))
    return distinct[rng.permutation(len(distinct))]


def _drawn(n: int, length: int, count: int, rng: Generator) -> Ints:
    """Distinct rows, each with its own random start of the run; fewer when no new ones turn up."""
    rows = np.empty((0, n), dtype=np.int64)
    before = -1
    while before < len(rows) < count:
        before = len(rows)
        starts, repeats = np.unique(rng.integers(n - length + 1, size=count), return_counts=True)
        drawn = [
            _units(n, length, int(start), derangements(n - length + 1, int(times), rng)[0])
            for start, times in zip(starts, repeats, strict=True)
        ]
        rows = without_repeats(np.concatenate([rows, *drawn]))
    return rows[rng.permutation(len(rows))]


def _units(n: int, length: int, start: int, orders: Ints) -> Ints:
    runs = _runs(n, length, start)
    return expand(np.unique(runs, return_inverse=True)[1].astype(np.int64), orders)
