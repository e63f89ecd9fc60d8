"""Move one word elsewhere, as the released code of Out of Order (Pham et al., 2021) makes fakes.

Several moves can read the same: a word and the next one trade places whichever of them moved. Each
reading counts once, so that n different words have (n − 1)² of them, all equally likely.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from disorder.registry import transformation
from disorder.transformations.positions.orders import n_later_equal
from disorder.types import Bools, Ints, PositionRows, Sentence


@transformation(
    keeps="words, all but one in order",
    keeps_words=True,
    destroys="the place of one word",
    paper="OOO",
    side="task",
    draws=1,
    words={"paper": "spaces"},
)
def move_word(sentence: Sentence, rng: Generator, count: int) -> PositionRows:
    """Take one random word out and put it in elsewhere; punctuation stays."""
    movable = sentence.movable
    orders, available = moves(sentence.kinds[movable], count, rng)
    rows = np.tile(np.arange(len(sentence)), (len(orders), 1))
    rows[:, movable] = movable[orders]
    return PositionRows(sentence, rows, available)


def moves(kinds: Ints, count: int, rng: Generator) -> tuple[Ints, int]:
    """Up to `count` orders in which one thing has moved, uniformly; and how many exist."""
    n = len(kinds)
    ladder = _alternating(kinds)
    sizes = _n_targets(kinds, ladder)
    until = np.cumsum(sizes)
    available = int(sizes.sum())
    ranks = (
        rng.choice(available, size=min(count, available), replace=False)
        if available
        else np.arange(0)
    )
    rows = np.tile(np.arange(n), (len(ranks), 1))
    for row, rank in zip(rows, ranks.tolist(), strict=True):
        source = int(np.searchsorted(until, rank, side="right"))
        targets = np.flatnonzero(_targets(kinds, ladder, source))
        target = targets[rank - until[source] + sizes[source]]
        row[:] = np.insert(np.delete(row, source % n), target, source % n)
    return rows, available


def _n_targets(kinds: Ints, ladder: Ints) -> Ints:
    """How many places each thing may go to, first to the right and then to the left."""
    places = np.arange(len(kinds))
    changes = kinds[1:] != kinds[:-1]
    later = n_later_equal(kinds)
    earlier = n_later_equal(kinds[::-1])[::-1]
    right = (len(kinds) - 1 - places - later) * np.append(changes, False)[: len(kinds)]
    left = (places - earlier - ladder // 2) * np.append(False, changes)[: len(kinds)]
    return np.concatenate([right, left])


def _targets(kinds: Ints, ladder: Ints, source: int) -> Bools:
    """Where a thing may go so that no other move reads the same: to the right (source < n) or to
    the left (source − n).

    It must be the last of equal neighbours, seen in its direction, and not stop beside its equal:
    then the first and last changed places tell the move. Only a b a b → b a b a is both a move to
    the right and one to the left: the former counts.
    """
    n = len(kinds)
    here = source % n
    goes_right = source < n
    beside = here + 1 if goes_right else here - 1
    places = np.arange(n)
    if not 0 <= beside < n or kinds[beside] == kinds[here]:
        return np.zeros(n, dtype=bool)
    if goes_right:
        return np.asarray((places > here) & (kinds != kinds[here]))
    twice = ((here - places) % 2 == 1) & (here - places < ladder[here])
    return np.asarray((places < here) & (kinds != kinds[here]) & ~twice)


def _alternating(kinds: Ints) -> Ints:
    """How many things that end here alternate between two kinds (… a b a b)."""
    lengths: list[int] = []
    for i, kind in enumerate(kinds.tolist()):
        if i == 0 or kinds[i - 1] == kind:
            lengths.append(1)
        else:
            lengths.append(lengths[-1] + 1 if i > 1 and kinds[i - 2] == kind else 2)
    return np.array(lengths, dtype=np.int64)
