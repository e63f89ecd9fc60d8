"""Which is the smallest reordering that changes an answer, and which the largest that does not? A search within a budget.

The size of a reordering is the number of words that must be picked up and put elsewhere (all but the longest run of words that
still stand in order), then the places that all words have passed. A search yields orders to ask about and is sent the answers,
so that many searches share their batches.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from disorder.types import Bools, Floats, Ints

BEAM = 8  # orders that are changed further, those least sure of the old answer
DEPTH = 6  # changes on top of each other
N_RANDOM, N_FAR, N_GRADED = 500, 20, 2  # orders drawn, of which the farthest are asked; orders asked for each number of words


@dataclass(frozen=True, eq=False)
class Found:
    """An order with the answer to it. `is_least` says that no smaller one exists (or, for the largest, no larger one)."""

    order: Ints
    answer: int
    probability: float
    is_least: bool = False

    @property
    def size(self) -> tuple[int, int]:
        """Words picked up, and places passed."""
        return int(picked_up(self.order).sum()), int(np.abs(self.order - np.arange(len(self.order))).sum())


Searching = Generator[Ints, Floats, Found | None]


class Search(Protocol):
    """A way to search the orders of words of these kinds, whose text got this answer."""

    __name__: str

    def __call__(self, kinds: Ints, answer: int, *, budget: int, rng: np.random.Generator) -> Searching:
        """Begin to search."""


def together(searches: Sequence[Searching], ask: Callable[[list[tuple[int, Ints]]], list[Floats]]) -> list[Found | None]:
    """Run searches side by side; `ask` answers what all of them want to know in one go, by number of the search."""
    results: list[Found | None] = [None] * len(searches)
    answers: dict[int, Floats | None] = dict.fromkeys(range(len(searches)))
    while answers:
        wanted = []
        for i, answer in answers.items():
            try:
                wanted.append((i, next(searches[i]) if answer is None else searches[i].send(answer)))
            except StopIteration as stopped:
                results[i] = stopped.value
        answers = dict(zip([i for i, _ in wanted], ask(wanted), strict=True)) if wanted else {}
    return results


def smallest(kinds: Ints, answer: int, *, budget: int, rng: np.random.Generator) -> Searching:
    """The smallest order that gets another answer: all moves of one word by distance, then all swaps, then a beam."""
    n, known = len(kinds), {kinds.tobytes()}
    tried: list[tuple[float, Ints]] = []
    is_complete = True
    for candidates in (*_by_distance(moves(n)), *_by_distance(swaps(n))):
        fresh = _unread(candidates, kinds, known)
        is_complete &= len(fresh) <= budget
        fresh = fresh[:budget]
        if len(fresh):
            answers = yield fresh
            budget -= len(fresh)
            if (flips := answers.argmax(axis=1) != answer).any():
                found = _surest(fresh, answers, flips)
                return Found(found.order, found.answer, found.probability, is_complete and found.size[0] == 1)
            tried += zip(answers[:, answer].tolist(), fresh, strict=True)
    return (yield from _beam(kinds, answer, tried, known, budget, rng))


def _beam(
    kinds: Ints, answer: int, tried: list[tuple[float, Ints]], known: set[bytes], budget: int, rng: np.random.Generator
) -> Searching:
    """Change the orders that are least sure of the old answer once more, and again."""
    steps = np.concatenate([moves(len(kinds)), swaps(len(kinds))])
    for _ in range(DEPTH):
        tried = sorted(tried, key=lambda each: each[0])[:BEAM]
        share = budget // 2 // max(1, len(tried))
        drawn = [order[steps[rng.permutation(len(steps))[:share]]] for _, order in tried]
        fresh = _unread(np.concatenate(drawn), kinds, known)[:budget] if drawn and share else steps[:0]
        if not len(fresh):
            return None
        answers = yield fresh
        budget -= len(fresh)
        if (flips := answers.argmax(axis=1) != answer).any():
            return _surest(fresh, answers, flips)
        tried += zip(answers[:, answer].tolist(), fresh, strict=True)
    return None


def largest(kinds: Ints, answer: int, *, budget: int, rng: np.random.Generator) -> Searching:
    """The largest order that gets the same answer: the text backwards, then far orders, then ever nearer ones."""
    n, known = len(kinds), {kinds.tobytes()}
    fresh = _unread(np.concatenate([np.arange(n)[None, ::-1], _far(n, rng), _graded(n, rng)]), kinds, known)[:budget]
    if not len(fresh):
        return None
    answers = yield fresh
    kept = answers.argmax(axis=1) == answer
    if not kept.any():
        return None
    sizes = [Found(order, answer, 0.0).size if keeps else (0, 0) for order, keeps in zip(fresh, kept, strict=True)]
    i = max(range(len(fresh)), key=lambda i: (sizes[i], answers[i, answer]))
    return Found(fresh[i], answer, float(answers[i, answer]), sizes[i] == (n - 1, n * n // 2))


def picked_up(order: Ints) -> Bools:
    """Which places of a new order hold a word that was picked up: all but the longest run that is still in order."""
    ends: list[int] = []  # ends[k]: the place whose word ends the best run of k + 1 words
    before = [-1] * len(order)
    words = order.tolist()
    for place, word in enumerate(words):
        k = bisect_left([words[end] for end in ends], word)
        before[place] = ends[k - 1] if k else -1
        ends[k : k + 1] = [place]
    moved, place = np.ones(len(order), dtype=bool), ends[-1] if ends else -1
    while place >= 0:
        moved[place], place = False, before[place]
    return moved


def moves(n: int) -> Ints:
    """Every order in which one word stands elsewhere, by how far it went; neighbours that trade places come once."""
    pairs = sorted((abs(i - j), i, j) for i in range(n) for j in range(n) if i != j and j != i - 1)
    return np.array([_moved(n, i, j) for _, i, j in pairs], dtype=np.int64).reshape(-1, n)


def swaps(n: int) -> Ints:
    """Every order in which two words that are no neighbours have traded places, by how far they went."""
    orders = np.tile(np.arange(n), (max(0, (n - 1) * (n - 2) // 2), 1))
    pairs = sorted((j - i, i, j) for i in range(n) for j in range(i + 2, n))
    for order, (_, i, j) in zip(orders, pairs, strict=True):
        order[[i, j]] = order[[j, i]]
    return orders


def _moved(n: int, i: int, j: int) -> list[int]:
    order = [k for k in range(n) if k != i]
    order.insert(j, i)
    return order


def _by_distance(orders: Ints) -> Iterator[Ints]:
    """Orders in groups of equal displacement, nearest first."""
    far = np.abs(orders - np.arange(orders.shape[1])).sum(axis=1)
    for distance in np.unique(far).tolist():
        yield orders[far == distance]


def _unread(orders: Ints, kinds: Ints, known: set[bytes]) -> Ints:
    """Orders that read as none before them; remembers them."""
    kept = []
    for order in orders:
        reading = kinds[order].tobytes()
        if reading not in known:
            known.add(reading)
            kept.append(order)
    return np.array(kept, dtype=np.int64).reshape(-1, len(kinds))


def _surest(orders: Ints, answers: Floats, flips: Bools) -> Found:
    """The smallest of the orders that flip; of equal ones that with the surest answer."""
    found = [Found(orders[i], int(answers[i].argmax()), float(answers[i].max())) for i in np.flatnonzero(flips)]
    return min(found, key=lambda each: (*each.size, -each.probability, each.order.tolist()))


def _far(n: int, rng: np.random.Generator) -> Ints:
    drawn = np.argsort(rng.random((N_RANDOM, n)), axis=1)
    return np.array(sorted(drawn.tolist(), key=lambda order: Found(np.array(order), 0, 0.0).size)[::-1][:N_FAR])


def _graded(n: int, rng: np.random.Generator) -> Ints:
    """Orders of ever fewer words among their own places."""
    orders = np.tile(np.arange(n), (N_GRADED * max(0, n - 1), 1))
    for k, order in enumerate(orders):
        places = np.sort(rng.permutation(n)[: n - k // N_GRADED])
        order[places] = rng.permutation(places)
    return orders
