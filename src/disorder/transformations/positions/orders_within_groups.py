"""Random orders of some things among their own places: words within a group (a window, a clause or
a word class), and the examples of a prompt or the items of a list, whose orders these are too.

Orders that read the same (equal words that trade places) count once. Their number is a product of
multinomials, so it is known exactly. Few: they are listed, and rows are picked from the list. Many:
they are drawn in bulk, each reading equally likely.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from math import factorial, prod
from typing import TypeVar

import numpy as np
from numpy.random import Generator

from disorder.errors import DoesNotApply
from disorder.transformations.positions.orders import BULK, LISTED, read_once
from disorder.types import Ints, PositionRows, Sentence, Shots


def shuffled_within(sentence: Sentence, groups: Ints, count: int, rng: Generator) -> PositionRows:
    """Rows that shuffle each group of words over its own places, and read differently."""
    orders, available = orders_within(groups, sentence.kinds, count, rng)
    return PositionRows(sentence, orders, available)


def orders_within(groups: Ints, kinds: Ints, count: int, rng: Generator) -> tuple[Ints, int]:
    """Up to `count` orders that read differently, uniformly; and how many exist."""
    members = _members(groups, np.unique(groups[_is_mixed(groups, kinds)]))
    n_readings = [
        factorial(len(places))
        // prod(factorial(n) for n in np.unique(kinds[places], return_counts=True)[1].tolist())
        for places in members
    ]
    available = prod(n_readings) - 1
    if available < max(factorial(LISTED), 4 * count):
        ranks = (
            1 + rng.choice(available, size=min(count, available), replace=False)
            if available
            else np.arange(0)
        )
        return _listed(members, n_readings, kinds, ranks), available
    return _drawn(groups, kinds, count, rng), available


def _members(groups: Ints, wanted: Ints) -> list[Ints]:
    """The places of each of these groups, which are in ascending order."""
    places = np.argsort(groups, kind="stable")
    ordered = groups[places]
    starts = np.searchsorted(ordered, wanted, side="left")
    ends = np.searchsorted(ordered, wanted, side="right")
    return [places[i:j] for i, j in zip(starts.tolist(), ends.tolist(), strict=True)]


def _is_mixed(groups: Ints, kinds: Ints) -> Ints:
    """Places in groups that hold two different words or more."""
    order = np.lexsort((kinds, groups))
    group = groups[order]
    kind = kinds[order]
    is_mixed = (group[1:] == group[:-1]) & (kind[1:] != kind[:-1])
    return np.asarray(order[1:][is_mixed])


def _listed(members: list[Ints], n_readings: list[int], kinds: Ints, ranks: Ints) -> Ints:
    """The orders with these numbers; number 0 is the text itself."""
    rows = np.tile(np.arange(len(kinds)), (len(ranks), 1))
    for places, n in zip(members, n_readings, strict=True):
        rows[:, places] = places[readings(kinds[places])[ranks % n]]
        ranks = ranks // n
    return rows


def readings(kinds: Ints) -> Ints:
    """Every order of these things that reads differently, one per row; the first is their own."""
    rows = [np.full(len(kinds), -1, dtype=np.int64)]
    for kind in np.unique(kinds).tolist():
        things = np.flatnonzero(kinds == kind)
        rows = [
            _placed(row, things, places)
            for row in rows
            for places in combinations(np.flatnonzero(row < 0).tolist(), len(things))
        ]
    at_home = next(i for i, row in enumerate(rows) if (kinds[row] == kinds).all())
    return np.array([rows[at_home], *rows[:at_home], *rows[at_home + 1 :]])


def _placed(row: Ints, things: Ints, places: tuple[int, ...]) -> Ints:
    row = row.copy()
    row[list(places)] = things
    return row


def _drawn(groups: Ints, kinds: Ints, count: int, rng: Generator) -> Ints:
    """Distinct readings, drawn: each comes from equally many orders, so they are uniform."""
    n = len(groups)
    rank = np.unique(groups, return_inverse=True)[1]
    places = np.argsort(rank, kind="stable")
    rows = np.empty((0, n), dtype=np.int64)
    # At most a quarter of all readings is wanted, so that most draws are new
    while len(rows) < count:
        fresh = np.empty((max(1, min(count - len(rows) + 8, BULK // n)), n), dtype=np.int64)
        fresh[:, places] = np.argsort(rank + rng.random(fresh.shape), axis=1)
        fresh = fresh[(kinds[fresh] != kinds).any(axis=1)]
        rows = read_once(np.concatenate([rows, fresh]), kinds)
    return rows[:count]


T = TypeVar("T", int, str)


def shots_sentence(shots: Shots) -> Sentence:
    """The examples of a prompt as a sentence whose units are each example and its answer in turn.

    >>> shots_sentence((("A dog.", "yes"), ("A cat.", "no"))).words
    ['A dog.', 'yes', 'A cat.', 'no']
    """
    found = items_sentence([unit for shot in shots for unit in shot])
    return replace(found, text="\n".join(" ".join(shot) for shot in shots), is_shots=True)


def items_sentence(items: Sequence[str]) -> Sentence:
    """The items of a list as a sentence whose units they are.

    >>> items_sentence(("a cat", "a dog")).words
    ['a cat', 'a dog']
    """
    lengths = np.array([len(item) for item in items], dtype=np.int64)
    ends = np.cumsum(lengths + 1) - 1  # a space, or the end of a line, stands between two
    n = len(items)
    return Sentence(
        text="\n".join(items),
        starts=ends - lengths,
        ends=ends,
        is_punctuation=np.zeros(n, dtype=bool),
        is_spaced=np.ones(n, dtype=bool),
        joint="\n",
        is_items=True,
    )


def check_shots(sentence: Sentence) -> None:
    """Raise where a sentence is not the examples of a prompt."""
    if not sentence.is_shots:
        raise DoesNotApply("it has no examples of a prompt")


def reordered(things: Sequence[T], count: int, rng: Generator) -> tuple[list[list[T]], int]:
    """Up to `count` different orders of things, none their own, and how many there are."""
    repeats = Counter(things).values()
    available = factorial(len(things)) // prod(map(factorial, repeats)) - 1
    found: dict[tuple[T, ...], None] = {}
    own = tuple(things)
    while len(found) < min(count, available):
        order = tuple(things[i] for i in rng.permutation(len(things)).tolist())
        if order != own:
            found.setdefault(order)
    return [list(order) for order in found], available
