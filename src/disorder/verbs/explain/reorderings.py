"""Reorderings of words: their size, moves of one word, swaps of two, and orders that read alike.

The size of a reordering is the number of words that must be picked up and put elsewhere (all but
the longest run that still stands in order), then the places that all words have passed. Orders are
made as they are needed, since a long text has far too many to list.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from disorder.types import Bools, Ints

# orders looked at per model call of the budget: texts of few different words read the same in most
N_LOOKED = 50


class NewReadings:
    """Finds the orders of words of these kinds that read unlike any before.

    Orders of equal words read the same; equal words never pass each other.
    """

    def __init__(self, kinds: Ints, budget: int) -> None:
        self.kinds = kinds
        self.known = {kinds.tobytes()}
        self.n_left = N_LOOKED * budget
        self.places = np.argsort(kinds, kind="stable")

    def take(self, orders: Iterable[Ints], most: int) -> tuple[Ints, bool]:
        """The first `most` new ones, remembered; and whether these are all there are."""
        kept: list[Ints] = []
        for order in orders:
            reading = self.kinds[order]
            if reading.tobytes() in self.known:
                self.n_left -= 1
                if self.n_left < 0:
                    break
                continue
            if len(kept) == most:
                break
            self.known.add(reading.tobytes())
            kept.append(self.settled(reading))
        else:
            return self._rows(kept), True
        return self._rows(kept), False

    def settled(self, reading: Ints) -> Ints:
        """The order in which a text reads so and equal words stand as they did."""
        order = np.empty_like(self.places)
        order[np.argsort(reading, kind="stable")] = self.places
        return order

    def _rows(self, kept: list[Ints]) -> Ints:
        return np.array(kept, dtype=np.int64).reshape(-1, len(self.kinds))


def size_of(order: Ints) -> tuple[int, int]:
    """Words picked up, and places passed."""
    return int(picked_up(order).sum()), int(np.abs(order - np.arange(len(order))).sum())


def picked_up(order: Ints) -> Bools:
    """Which places of a new order hold a word that was picked up: all but the longest run that is
    still in order.
    """
    # ends[k] is the place whose word, lasts[k], ends the best run of k + 1 words
    ends: list[int] = []
    lasts: list[int] = []
    before = [-1] * len(order)
    for place, word in enumerate(order.tolist()):
        k = bisect_left(lasts, word)
        before[place] = ends[k - 1] if k else -1
        ends[k : k + 1] = [place]
        lasts[k : k + 1] = [word]
    moved = np.ones(len(order), dtype=bool)
    place = ends[-1] if ends else -1
    while place >= 0:
        moved[place] = False
        place = before[place]
    return moved


def moves(n: int) -> Iterator[Iterator[Ints]]:
    """Every order in which one word stands elsewhere, in groups by how far it went; neighbours that
    trade places come once.
    """
    for far in range(1, n):
        yield _moves_by(n, (far,) if far == 1 else (far, -far))


def _moves_by(n: int, ways: Sequence[int]) -> Iterator[Ints]:
    return (_moved(n, i, i + way) for way in ways for i in range(n) if 0 <= i + way < n)


def swaps(n: int) -> Iterator[Iterator[Ints]]:
    """Every order in which two words that are no neighbours have traded places, in groups by how
    far they went.
    """
    for far in range(2, n):
        yield _swaps_by(n, far)


def _swaps_by(n: int, far: int) -> Iterator[Ints]:
    return (_swapped(n, i, i + far) for i in range(n - far))


def random_steps(n: int, count: int, rng: np.random.Generator) -> Iterator[Ints]:
    """Moves and swaps drawn at random."""
    first, second = rng.integers(n, size=(2, count))
    is_move = rng.random(count) < 2 / 3
    for i, j, moves_one in zip(first.tolist(), second.tolist(), is_move.tolist(), strict=True):
        if i != j:
            yield _moved(n, i, j) if moves_one else _swapped(n, i, j)


def _moved(n: int, i: int, j: int) -> Ints:
    order = np.arange(n)
    if i < j:
        order[i:j] += 1
    else:
        order[j + 1 : i + 1] -= 1
    order[j] = i
    return order


def _swapped(n: int, i: int, j: int) -> Ints:
    order = np.arange(n)
    order[[i, j]] = order[[j, i]]
    return order
