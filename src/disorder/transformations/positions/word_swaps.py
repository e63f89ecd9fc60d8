"""Word swaps: pairs of different words that trade places, drawn without listing all pairs."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from disorder.types import Ints, PositionRows, Sentence


def n_pairs(kinds: Ints) -> int:
    """How many pairs of different words there are."""
    same = np.unique(kinds, return_counts=True)[1]
    return int(len(kinds) * (len(kinds) - 1) // 2 - (same * (same - 1) // 2).sum())


def n_later_equal(kinds: Ints) -> Ints:
    """For each word, how many equal ones come after it."""
    order = np.argsort(kinds, kind="stable")
    counts = np.unique(kinds, return_counts=True)[1]
    left = np.empty(len(kinds), dtype=np.int64)
    left[order] = np.repeat(np.cumsum(counts), counts) - 1 - np.arange(len(kinds))
    return left


def distinct_pairs(kinds: Ints, count: int, rng: Generator) -> Ints:
    """Up to `count` pairs of places that hold different words, uniformly, none twice; one per row.

    Each exchange changes just its two places, so no two of them read the same.
    """
    total = n_pairs(kinds)
    if not total:
        return np.empty((0, 2), dtype=np.int64)
    until = np.cumsum(np.arange(len(kinds))[::-1] - n_later_equal(kinds))
    ranks = rng.choice(total, size=min(count, total), replace=False)
    first = np.searchsorted(until, ranks, side="right")
    second = [
        _partners(kinds, i)[rank - until[i]] for i, rank in zip(first.tolist(), ranks, strict=True)
    ]
    return np.stack([first, np.array(second, dtype=np.int64)], axis=1)


def _partners(kinds: Ints, i: int) -> Ints:
    """The later places with another word than place i; counted from its end, as `until` is."""
    return i + 1 + np.flatnonzero(kinds[i + 1 :] != kinds[i])


def traded(sentence: Sentence, places: Ints, count: int, rng: Generator) -> PositionRows:
    """Rows in which two different words, of those at `places`, have traded places."""
    kinds = sentence.kinds[places]
    pairs = places[distinct_pairs(kinds, count, rng)]
    rows = np.tile(np.arange(len(sentence)), (len(pairs), 1))
    every = np.arange(len(pairs))
    rows[every, pairs[:, 0]] = pairs[:, 1]
    rows[every, pairs[:, 1]] = pairs[:, 0]
    return PositionRows(sentence, rows, n_pairs(kinds))
