"""Swap neighbours: the slightest local disorder, in as many places as one likes.

A control for global order: no word goes further than one place.
"""

from __future__ import annotations

from math import comb

import numpy as np
from numpy.random import Generator

from disorder.errors import BadSetting, DoesNotApply
from disorder.registry import transformation
from disorder.transformations.positions.orders import random_orders, without_repeats
from disorder.types import Bools, Ints, PositionRows, Sentence

ROUNDS = 16  # bulk draws before fewer variants than requested have to do


@transformation(
    keeps="words, all within one place of their own",
    keeps_words=True,
    destroys="the order of some neighbours",
    side="task",
    draws=10,
)
def swap_adjacent(sentence: Sentence, rng: Generator, count: int, *, k: int = 1) -> PositionRows:
    """Let `k` pairs of neighbours that differ trade places, no word twice; punctuation stays."""
    if k < 1:
        raise BadSetting("swap_adjacent", k=k, need="1 or more")
    movable = sentence.movable
    kinds = sentence.kinds[movable]
    can_swap = kinds[:-1] != kinds[1:]
    if _most_pairs(can_swap) < k:
        raise DoesNotApply(f"it has no {k} pairs of different neighbours")
    is_free = bool(can_swap.all())
    available = comb(len(movable) - k, k) if is_free else None
    rows = np.empty((0, len(sentence)), dtype=np.int64)
    for _ in range(ROUNDS):
        drawn = [_swapped(sentence, movable, starts) for starts in _pairs(can_swap, k, count, rng)]
        rows = without_repeats(np.concatenate([rows, *drawn]))[:count]
        if len(rows) == count:
            break
    return PositionRows(sentence, rows, available)


def _most_pairs(can_swap: Bools) -> int:
    """How many pairs of neighbours can be swapped at once: half of every run of such places."""
    edges = np.diff(np.concatenate([[0], can_swap.astype(np.int64), [0]]))
    lengths = np.flatnonzero(edges == -1) - np.flatnonzero(edges == 1)
    return int(((lengths + 1) // 2).sum())


def _pairs(can_swap: Bools, k: int, count: int, rng: Generator) -> list[Ints]:
    """Choices of k places whose word trades places with the next, no word twice; all equally
    likely.

    k places of n, none beside another, are k of n − k + 1 set apart by one each; choices with a
    place that cannot be swapped are thrown away.
    """
    n = len(can_swap)
    if n < 2 * k - 1:
        return []
    close = np.sort(random_orders(n - k + 1, 4 * count + 8, rng)[:, :k], axis=1)
    places = close + np.arange(k)
    return list(places[can_swap[places].all(axis=1)][:count])


def _swapped(sentence: Sentence, movable: Ints, starts: Ints) -> Ints:
    row = np.arange(len(sentence))
    row[movable[starts]] = movable[starts + 1]
    row[movable[starts + 1]] = movable[starts]
    return row[None, :]
