"""Search for minimal pairs: the smallest reordering that flips a prediction, the largest that does
not, within a budget of model calls.

A search yields orders to predict and is sent their probabilities, so that many searches share their
batches.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Protocol

import numpy as np

from disorder.types import Bools, Floats, Ints

BEAM = 8  # orders that are changed further: those with the lowest probability of the old label
DEPTH = 6  # changes on top of each other
N_RANDOM = 500  # orders drawn at random
N_FAR = 20  # of which so many, the farthest, are predicted
N_GRADED = 2  # orders predicted for each number of words
# orders looked at per model call of the budget: texts of few different words read the same in most
N_LOOKED = 50


@dataclass(frozen=True, eq=False)
class Reordering:
    """An order with its prediction; `is_extreme`: no smaller (for the largest: larger) exists."""

    order: Ints
    label: int
    probability: float
    is_extreme: bool = False

    @property
    def size(self) -> tuple[int, int]:
        """Words picked up, and places passed."""
        return size_of(self.order)


@dataclass(frozen=True)
class SearchResult:
    """How a search ended; `is_thorough`: it found something, or tried every move of one word."""

    found: Reordering | None
    n_calls: int
    is_thorough: bool


Searching = Generator[Ints, Floats, tuple[Reordering | None, bool]]
Beaming = Generator[Ints, Floats, Reordering | None]


class Search(Protocol):
    """A way to search the orders of words of these kinds, whose text got this label."""

    __name__: str

    def __call__(
        self, kinds: Ints, label: int, *, budget: int, rng: np.random.Generator
    ) -> Searching:
        """Begin to search."""


def together(
    searches: Sequence[Searching], predict: Callable[[list[tuple[int, Ints]]], list[Floats]]
) -> list[SearchResult]:
    """Run searches side by side; `predict` takes the orders of all of them, by number."""
    results: dict[int, SearchResult] = {}
    n_calls = [0] * len(searches)
    received: dict[int, Floats | None] = dict.fromkeys(range(len(searches)))
    while received:
        wanted = []
        for i, probabilities in received.items():
            try:
                # a generator is started by next() before anything can be sent to it
                search = searches[i]
                orders = next(search) if probabilities is None else search.send(probabilities)
                wanted.append((i, orders))
                n_calls[i] += len(orders)
            except StopIteration as stopped:
                found, is_thorough = stopped.value
                results[i] = SearchResult(found, n_calls[i], is_thorough)
        received = {}
        if wanted:
            received = dict(zip([i for i, _ in wanted], predict(wanted), strict=True))
    return [results[i] for i in range(len(searches))]


def smallest(kinds: Ints, label: int, *, budget: int, rng: np.random.Generator) -> Searching:
    """The smallest order that gets another label: all moves of one word, all swaps, a beam."""
    readings = NewReadings(kinds, budget)
    tried: list[tuple[float, Ints]] = []
    is_complete = True
    n = len(kinds)
    steps = chain(((each, True) for each in moves(n)), ((each, False) for each in swaps(n)))
    for candidates, is_move in steps:
        fresh, is_all = readings.take(candidates, budget)
        is_complete &= is_all or not is_move
        if len(fresh):
            predictions = yield fresh
            budget -= len(fresh)
            flips = predictions.argmax(axis=1) != label
            if flips.any():
                found = _smallest_of(fresh, predictions, flips)
                return replace(found, is_extreme=is_complete and is_move), True
            tried += zip(predictions[:, label].tolist(), fresh, strict=True)
        if not is_all:
            break
    found_later = yield from _beam(readings, label, tried, budget, rng)
    return found_later, is_complete or found_later is not None


def _beam(
    readings: NewReadings,
    label: int,
    tried: list[tuple[float, Ints]],
    budget: int,
    rng: np.random.Generator,
) -> Beaming:
    """Change the orders with the lowest probability of the old label once more, and again."""
    for _ in range(DEPTH):
        tried = sorted(tried, key=lambda each: each[0])[:BEAM]
        count = budget // 2 // max(1, len(tried))
        changed = (
            order[step] for _, order in tried for step in random_steps(len(order), count, rng)
        )
        fresh, _ = readings.take(changed, budget)
        if not len(fresh):
            return None
        predictions = yield fresh
        budget -= len(fresh)
        flips = predictions.argmax(axis=1) != label
        if flips.any():
            return _smallest_of(fresh, predictions, flips)
        tried += zip(predictions[:, label].tolist(), fresh, strict=True)
    return None


def largest(kinds: Ints, label: int, *, budget: int, rng: np.random.Generator) -> Searching:
    """The largest order that gets the same label: backwards, then backwards but for one word, then
    ever nearer orders.

    Backwards turns every two words around, so nothing larger is looked for. Of words that are all
    different, nothing is between that and the largest with one word moved. What is found further
    down is changed again as long as it grows.
    """
    n = len(kinds)
    readings = NewReadings(kinds, budget)
    backwards = np.arange(n)[::-1]
    nearly_backwards = (order[::-1] for group in moves(n) for order in group)
    best: Reordering | None = None
    for candidates, most in (
        ([backwards], 1),
        (nearly_backwards, (budget - 1) // 2),
        (chain(_far(n, rng), _graded(n, rng)), budget),
    ):
        fresh, _ = readings.take(candidates, min(most, budget))
        if len(fresh):
            predictions = yield fresh
            budget -= len(fresh)
            best = _largest_of(fresh, predictions, label, None)
        if best is not None:
            break
    if best is None:
        return None, False
    if best.size[0] < n - 2 and (kinds[best.order] != kinds[backwards]).any():
        best = yield from _climb(readings, best, budget, rng)
    # the second size too, since backwards was tried before
    is_largest = best.size in ((n - 1, n * n // 2), (n - 2, n * n // 2))
    return replace(best, is_extreme=is_largest), True


def _climb(
    readings: NewReadings, best: Reordering, budget: int, rng: np.random.Generator
) -> Generator[Ints, Floats, Reordering]:
    """Make a reordering that leaves the label unchanged larger, step by step."""
    for _ in range(DEPTH):
        steps = random_steps(len(best.order), budget, rng)
        order, size = best.order, best.size
        changed = (readings.settled(readings.kinds[order[step]]) for step in steps)
        larger = (each for each in changed if size_of(each) > size)
        fresh, _ = readings.take(larger, max(1, budget // 2) if budget else 0)
        if not len(fresh):
            break
        predictions = yield fresh
        budget -= len(fresh)
        best = _largest_of(fresh, predictions, best.label, best) or best
    return best


def _smallest_of(orders: Ints, predictions: Floats, flips: Bools) -> Reordering:
    """The smallest of the orders that flip; of equal ones the most probable."""
    found = [
        Reordering(orders[i], int(predictions[i].argmax()), float(predictions[i].max()))
        for i in np.flatnonzero(flips)
    ]
    return min(found, key=lambda each: (*each.size, -each.probability, each.order.tolist()))


def _largest_of(
    orders: Ints, predictions: Floats, label: int, best: Reordering | None
) -> Reordering | None:
    """The largest of the orders that keep the label and of the best; of equals the likeliest."""
    kept = np.flatnonzero(predictions.argmax(axis=1) == label).tolist()
    found = [Reordering(orders[i], label, float(predictions[i, label])) for i in kept]
    if best is not None:
        found.append(best)
    return max(found, key=lambda each: (each.size, each.probability), default=None)


def _far(n: int, rng: np.random.Generator) -> Iterator[Ints]:
    """The farthest of some orders drawn at random, farthest first."""
    drawn = np.argsort(rng.random((max(N_FAR, min(N_RANDOM, 50_000 // n)), n)), axis=1)
    yield from islice(sorted(drawn, key=size_of, reverse=True), N_FAR)


def _graded(n: int, rng: np.random.Generator) -> Iterator[Ints]:
    """Orders of ever fewer words among their own places."""
    for k in range(N_GRADED * max(0, n - 1)):
        order = np.arange(n)
        places = np.sort(rng.permutation(n)[: n - k // N_GRADED])
        order[places] = rng.permutation(places)
        yield order


class NewReadings:
    """Finds the orders that read unlike any before; equal words never pass each other."""

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
    """Which places hold a word that was picked up: all but the longest run still in order."""
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
    """Every order in which one word stands elsewhere, once, in groups by how far it went."""
    for far in range(1, n):
        yield _moves_by(n, (far,) if far == 1 else (far, -far))


def _moves_by(n: int, ways: Sequence[int]) -> Iterator[Ints]:
    return (_moved(n, i, i + way) for way in ways for i in range(n) if 0 <= i + way < n)


def swaps(n: int) -> Iterator[Iterator[Ints]]:
    """Every order in which two words that are no neighbours traded places, by how far."""
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
