"""Keep a stated share of the pairs of neighbours: how much local order does a model need?

The ladder from `shuffle` (share=0: no pair of neighbours survives) to the text itself (share=1), in
steps of any size.
"""

from __future__ import annotations

from math import comb

import numpy as np
from numpy.random import Generator

from disorder.errors import BadSetting
from disorder.registry import transformation
from disorder.transformations.positions.orders import (
    BULK,
    COUNTED,
    LISTED,
    Bigrams,
    all_orders,
    random_orders,
    read_once,
    reorder,
    repaired_order,
)
from disorder.types import Ints, PositionRows, Sentence

ROUNDS = 8  # bulk draws before orders are repaired instead


@transformation(
    keeps="words, a share of the bigrams",
    keeps_words=True,
    destroys="the other bigrams and global order",
    side="task",
    draws=10,
    suites=("ladder",),
    sweep=("share=0", "share=0.25", "share=0.5", "share=0.75"),
)
def keep_bigrams(
    sentence: Sentence, rng: Generator, count: int, *, share: float = 0.5
) -> PositionRows:
    """Cut the text at random into runs and shuffle them, so that just `share` of its bigrams is
    left.

    Of the n − 1 pairs of neighbours before the final punctuation, round(share · (n − 1)) are pairs
    of the original text, as words without case; no other is. Uniform over those orders where no
    word repeats or the text has at most seven words; a longer text that repeats a word is drawn by
    its runs, so that orders with a pair kept by way of an equal word are rarer.
    """
    if not 0 <= share <= 1:
        raise BadSetting("keep_bigrams", share=share, need="a share from 0 to 1")
    kinds = sentence.kinds[sentence.body]
    n_kept = round(share * (len(kinds) - 1))
    if len(kinds) <= LISTED:
        every = _every(kinds, n_kept)
        picks = rng.permutation(len(every))[:count]
        return reorder(sentence, every[picks], available=len(every))
    orders = _drawn(kinds, n_kept, count, rng)
    return reorder(sentence, orders, available=n_keeping(kinds, n_kept))


def n_keeping(kinds: Ints, n_kept: int) -> int | None:
    """How many orders keep just so many bigrams: known where no word comes twice, and counted for
    texts that are not very long.

    A choice of the joints that are kept, times the orders of the runs in which no run follows its
    old neighbour.
    """
    n_runs = len(kinds) - n_kept
    if n_runs < 2:
        return 0
    if len(kinds) > COUNTED or len(np.unique(kinds)) < len(kinds):
        return None
    before = 1  # for one run
    now = 1  # for two
    for n in range(3, n_runs + 1):
        before, now = now, (n - 1) * now + (n - 2) * before
    return comb(len(kinds) - 1, n_kept) * now


def _every(kinds: Ints, n_kept: int) -> Ints:
    """All orders of a few words that keep just so many bigrams, each reading once."""
    orders = all_orders(len(kinds))
    if len(kinds) < 2 or n_kept == len(kinds) - 1:
        return orders[:0]
    old = Bigrams.of(kinds)
    kept = old.hold(kinds[orders[:, :-1]], kinds[orders[:, 1:]]).sum(axis=1)
    return read_once(orders[kept == n_kept], kinds)


def _drawn(kinds: Ints, n_kept: int, count: int, rng: Generator) -> Ints:
    """Random runs in random orders that restore no bigram; where too few are left, repaired."""
    n = len(kinds)
    n_runs = n - n_kept
    old = Bigrams.of(kinds)
    rows = np.empty((0, n), dtype=np.int64)
    if n_runs < 2:
        return rows
    for _ in range(0 if old.return_surely(kinds, n_runs) else ROUNDS):
        wanted = max(1, min(3 * (count - len(rows)) + 8, BULK // n))
        drawn = _joined(_runs(n, n_runs, wanted, rng), random_orders(n_runs, wanted, rng))
        kept = old.hold(kinds[drawn[:, :-1]], kinds[drawn[:, 1:]]).sum(axis=1)
        rows = read_once(np.concatenate([rows, drawn[kept == n_kept]]), kinds)
        if len(rows) >= count:
            return rows[:count]
    more = _runs(n, n_runs, count - len(rows), rng)
    repaired = [_repaired(runs, kinds, old, rng) for runs in more]
    return read_once(np.concatenate([rows, *[row for row in repaired if row is not None]]), kinds)


def _runs(n: int, n_runs: int, count: int, rng: Generator) -> Ints:
    """A random cut of n words into runs per row: the number of the run that each word is in."""
    joints = random_orders(n - 1, count, rng)[:, : n_runs - 1]
    is_cut = np.zeros((count, n), dtype=np.int64)
    np.put_along_axis(is_cut, joints + 1, 1, axis=1)
    return np.cumsum(is_cut, axis=1)


def _joined(runs: Ints, orders: Ints) -> Ints:
    """Word positions for an order of the runs of each row."""
    ranks = np.argsort(orders, axis=1)
    return np.argsort(np.take_along_axis(ranks, runs, axis=1), axis=1, kind="stable")


def _repaired(runs: Ints, kinds: Ints, old: Bigrams, rng: Generator) -> Ints | None:
    """One order of these runs in which no two make an old bigram where they meet."""
    starts = np.flatnonzero(np.diff(runs, prepend=-1))
    ends = np.append(starts[1:], len(runs)) - 1
    order = repaired_order(
        random_orders(len(starts), 1, rng)[0], kinds[starts], kinds[ends], old, rng
    )
    return None if order is None else _joined(runs[None, :], order[None, :])
