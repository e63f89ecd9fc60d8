"""Which is the smallest reordering that changes an answer, and which the largest that does not? A
search within a budget.

The size of a reordering is the number of words that must be picked up and put elsewhere (all but
the longest run of words that still stand in order), then the places that all words have passed;
equal words never pass each other. A search yields orders to ask about and is sent the answers, so
that many searches share their batches. Orders are made as they are asked, since a long text has far
too many to list.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Protocol

import numpy as np

from disorder.types import Bools, Floats, Ints

BEAM = 8  # orders that are changed further, those least sure of the old answer
DEPTH = 6  # changes on top of each other
N_RANDOM, N_FAR, N_GRADED = (
    500,
    20,
    2,
)  # orders drawn, of which the farthest are asked; orders asked for each number of words
# orders looked at for every question of the budget: texts of few different words read the same in
# most of them
N_LOOKED = 50


@dataclass(frozen=True, eq=False)
class Found:
    """An order with the answer to it. `is_least` says that no smaller one exists (or, for the
    largest, no larger one).
    """

    order: Ints
    answer: int
    probability: float
    is_least: bool = False

    @property
    def size(self) -> tuple[int, int]:
        """Words picked up, and places passed."""
        return size_of(self.order)


@dataclass(frozen=True)
class Searched:
    """How a search ended, after how many questions; `is_thorough` says that it stopped or asked
    every move of one word.
    """

    found: Found | None
    n_asked: int
    is_thorough: bool


Searching = Generator[Ints, Floats, tuple[Found | None, bool]]
Beaming = Generator[Ints, Floats, Found | None]


class Search(Protocol):
    """A way to search the orders of words of these kinds, whose text got this answer."""

    __name__: str

    def __call__(
        self, kinds: Ints, answer: int, *, budget: int, rng: np.random.Generator
    ) -> Searching:
        """Begin to search."""


def together(
    searches: Sequence[Searching], ask: Callable[[list[tuple[int, Ints]]], list[Floats]]
) -> list[Searched]:
    """Run searches side by side; `ask` answers what all of them want to know in one go, by number
    of the search.
    """
    results, n_asked = dict[int, Searched](), [0] * len(searches)
    answers: dict[int, Floats | None] = dict.fromkeys(range(len(searches)))
    while answers:
        wanted = []
        for i, answer in answers.items():
            try:
                wanted.append(
                    (i, next(searches[i]) if answer is None else searches[i].send(answer))
                )
                n_asked[i] += len(wanted[-1][1])
            except StopIteration as stopped:
                found, is_thorough = stopped.value
                results[i] = Searched(found, n_asked[i], is_thorough)
        answers = dict(zip([i for i, _ in wanted], ask(wanted), strict=True)) if wanted else {}
    return [results[i] for i in range(len(searches))]


def smallest(kinds: Ints, answer: int, *, budget: int, rng: np.random.Generator) -> Searching:
    """The smallest order that gets another answer: all moves of one word by distance, then all
    swaps, then a beam.
    """
    reader = Reader(kinds, budget)
    tried: list[tuple[float, Ints]] = []
    is_complete = True
    n = len(kinds)
    for candidates, is_move in chain(
        ((each, True) for each in moves(n)), ((each, False) for each in swaps(n))
    ):
        fresh, is_all = reader.unread(candidates, budget)
        is_complete &= is_all or not is_move
        if len(fresh):
            answers = yield fresh
            budget -= len(fresh)
            if (flips := answers.argmax(axis=1) != answer).any():
                found = _surest(fresh, answers, flips)
                return Found(
                    found.order, found.answer, found.probability, is_complete and is_move
                ), True
            tried += zip(answers[:, answer].tolist(), fresh, strict=True)
        if not is_all:
            break
    found_later = yield from _beam(reader, answer, tried, budget, rng)
    return found_later, is_complete or found_later is not None


def _beam(
    reader: Reader,
    answer: int,
    tried: list[tuple[float, Ints]],
    budget: int,
    rng: np.random.Generator,
) -> Beaming:
    """Change the orders that are least sure of the old answer once more, and again."""
    for _ in range(DEPTH):
        tried = sorted(tried, key=lambda each: each[0])[:BEAM]
        share = budget // 2 // max(1, len(tried))
        changed = (
            order[step] for _, order in tried for step in random_steps(len(order), share, rng)
        )
        fresh, _ = reader.unread(changed, budget)
        if not len(fresh):
            return None
        answers = yield fresh
        budget -= len(fresh)
        if (flips := answers.argmax(axis=1) != answer).any():
            return _surest(fresh, answers, flips)
        tried += zip(answers[:, answer].tolist(), fresh, strict=True)
    return None


def largest(kinds: Ints, answer: int, *, budget: int, rng: np.random.Generator) -> Searching:
    """The largest order that gets the same answer: backwards, then backwards but for one word, then
    ever nearer orders.

    Backwards turns every two words around, so nothing larger is looked for. Of words that are all
    different, nothing is between that and the largest with one word moved. What is found further
    down is changed again as long as it grows.
    """
    n, reader = len(kinds), Reader(kinds, budget)
    last = np.arange(n)[::-1]
    best: Found | None = None
    nearly = (order[::-1] for group in moves(n) for order in group)
    for candidates, most in (
        ([last], 1),
        (nearly, (budget - 1) // 2),
        (chain(_far(n, rng), _graded(n, rng)), budget),
    ):
        fresh, _ = reader.unread(candidates, min(most, budget))
        if len(fresh):
            answers = yield fresh
            budget -= len(fresh)
            best = _farthest(fresh, answers, answer, None)
        if best is not None:
            break
    if best is None:
        return None, False
    if best.size[0] < n - 2 and (kinds[best.order] != kinds[last]).any():
        best = yield from _climb(reader, best, budget, rng)
    is_largest = best.size in (
        (n - 1, n * n // 2),
        (n - 2, n * n // 2),
    )  # the second too, since backwards was asked before
    return Found(best.order, best.answer, best.probability, is_largest), True


def _climb(
    reader: Reader, best: Found, budget: int, rng: np.random.Generator
) -> Generator[Ints, Floats, Found]:
    """Make a reordering that keeps the answer larger, step by step."""
    for _ in range(DEPTH):
        steps = random_steps(len(best.order), budget, rng)
        changed = (reader.settled(reader.kinds[best.order[step]]) for step in steps)
        larger = (order for order in changed if size_of(order) > best.size)
        fresh, _ = reader.unread(larger, max(1, budget // 2) if budget else 0)
        if not len(fresh):
            break
        answers = yield fresh
        budget -= len(fresh)
        best = _farthest(fresh, answers, best.answer, best) or best
    return best


class Reader:
    """Tells orders that read as none before them from those that read the same, as orders of equal
    words do.
    """

    def __init__(self, kinds: Ints, budget: int) -> None:
        self.kinds, self.known, self.n_left = kinds, {kinds.tobytes()}, N_LOOKED * budget
        self.places = np.argsort(kinds, kind="stable")

    def unread(self, orders: Iterable[Ints], most: int) -> tuple[Ints, bool]:
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
    ends, lasts = (
        list[int](),
        list[int](),
    )  # ends[k]: the place whose word, lasts[k], ends the best run of k + 1 words
    before = [-1] * len(order)
    for place, word in enumerate(order.tolist()):
        k = bisect_left(lasts, word)
        before[place] = ends[k - 1] if k else -1
        ends[k : k + 1], lasts[k : k + 1] = [place], [word]
    moved, place = np.ones(len(order), dtype=bool), ends[-1] if ends else -1
    while place >= 0:
        moved[place], place = False, before[place]
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
    for i, j, is_move in zip(
        first.tolist(), second.tolist(), (rng.random(count) < 2 / 3).tolist(), strict=True
    ):
        if i != j:
            yield _moved(n, i, j) if is_move else _swapped(n, i, j)


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


def _surest(orders: Ints, answers: Floats, flips: Bools) -> Found:
    """The smallest of the orders that flip; of equal ones that with the surest answer."""
    found = [
        Found(orders[i], int(answers[i].argmax()), float(answers[i].max()))
        for i in np.flatnonzero(flips)
    ]
    return min(found, key=lambda each: (*each.size, -each.probability, each.order.tolist()))


def _farthest(orders: Ints, answers: Floats, answer: int, best: Found | None) -> Found | None:
    """The largest of the orders that keep the answer and of the best so far; of equal ones that
    with the surest answer.
    """
    kept = np.flatnonzero(answers.argmax(axis=1) == answer).tolist()
    found = [Found(orders[i], answer, float(answers[i, answer])) for i in kept] + (
        [] if best is None else [best]
    )
    return max(found, key=lambda each: (each.size, each.probability), default=None)


def _far(n: int, rng: np.random.Generator) -> Iterator[Ints]:
    """The farthest of some orders drawn at random, farthest first."""
    drawn = np.argsort(rng.random((max(N_FAR, min(N_RANDOM, 50_000 // n)), n)), axis=1)
    yield from islice(sorted(drawn, key=size_of, reverse=True), N_FAR)


def _graded(n: int, rng: np.random.Generator) -> Iterator[Ints]:
    """Orders of ever fewer words among their own places."""
    for k in range(N_GRADED * max(0, n - 1)):
        order, places = np.arange(n), np.sort(rng.permutation(n)[: n - k // N_GRADED])
        order[places] = rng.permutation(places)
        yield order
