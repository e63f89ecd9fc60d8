"""Orders of n words: random ones under a rule (uniform, distinct, drawn all at once), and the rows
that are made of them, with the final punctuation in its place.

Few words: every order is listed once and rows are picked from the list, so that counts are exact.
Many: random orders are drawn in bulk and those that break the rule are thrown away, which leaves
the rest uniform.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from math import factorial

import numpy as np
from numpy.random import Generator

from disorder.errors import DoesNotApply
from disorder.types import Bools, Fidelity, Ints, PositionRows, Sentence

LISTED = 7  # 7! = 5,040 rows are listed; from 8 on, orders are drawn
MAX_ROUNDS = 64  # bulk draws before a rule counts as too tight for these words
REPAIRS = 2_000  # swaps tried to fix one order
BULK = 2_000_000  # numbers in one bulk draw
SURE = 50.0  # restored bigrams expected; that a draw has none is then out of the question (e⁻⁵⁰)
COUNTED = 1_000  # units whose orders are counted; of more the count alone has thousands of digits
TABULATED = 256  # different words whose pairs are looked up in a table

_SPREAD = np.random.Generator(np.random.Philox(0)).integers(1, 2**40, size=512)

_LOW_BYTE = np.uint64(255)

OrderRule = Callable[[Ints], Bools]


@lru_cache(maxsize=LISTED + 1)
def all_orders(n: int) -> Ints:
    """Every order of n things, one per row."""
    rows = np.array(list(permutations(range(n))), dtype=np.int64).reshape(factorial(n), n)
    rows.setflags(write=False)
    return rows


def n_derangements(n: int) -> int:
    """How many orders of n things leave nothing in place (1, 0, 1, 2, 9, 44, 265, …)."""
    count = 1
    for i in range(1, n + 1):
        count = i * count + (-1) ** i
    return count


def distinct_orders(
    n: int, count: int, rng: Generator, *, rule: OrderRule, max_rounds: int = MAX_ROUNDS
) -> tuple[Ints, int | None]:
    """Up to `count` distinct orders that keep `rule`, uniformly; and how many exist, if known."""
    if n <= LISTED:
        kept = all_orders(n)[rule(all_orders(n))]
        picks = rng.permutation(len(kept))[:count]
        return kept[picks], len(kept)
    rows = np.empty((0, n), dtype=np.int64)
    for _ in range(max_rounds):
        drawn = random_orders(n, _bulk(n, 3 * (count - len(rows)) + 8), rng)
        rows = without_repeats(np.concatenate([rows, drawn[rule(drawn)]]))
        if len(rows) >= count:
            return rows[:count], None
    return rows, None


def some_orders(n: int, count: int, rng: Generator, *, rule: OrderRule) -> Ints:
    """`count` orders that keep `rule`, drawn independently; none if none is found."""
    if n <= LISTED:
        kept = all_orders(n)[rule(all_orders(n))]
        return kept[rng.integers(len(kept), size=count)] if len(kept) else kept
    rows = np.empty((0, n), dtype=np.int64)
    for _ in range(MAX_ROUNDS):
        drawn = random_orders(n, _bulk(n, 2 * (count - len(rows)) + 8), rng)
        rows = np.concatenate([rows, drawn[rule(drawn)]])[:count]
        if len(rows) == count:
            return rows
    return rows


def random_orders(n: int, count: int, rng: Generator) -> Ints:
    """`count` uniform orders of n things."""
    if n > 256:
        return np.argsort(rng.random((count, n)), axis=1)
    # Sorting 56 random bits with the index in the low byte is an argsort at the price of a sort.
    raw = np.asarray(rng.bit_generator.random_raw(count * n), dtype=np.uint64).reshape(count, n)
    indexed = (raw & ~_LOW_BYTE) | np.arange(n, dtype=np.uint64)
    return (np.sort(indexed, axis=1) & _LOW_BYTE).view(np.int64)


def no_fixed_point(rows: Ints) -> Bools:
    """Nothing stands where it stood."""
    return np.asarray((rows != np.arange(rows.shape[1])).all(axis=1))


def differs(kinds: Ints) -> OrderRule:
    """The words read in the new order are not the same text as before."""
    return lambda rows: np.asarray((kinds[rows] != kinds).any(axis=1))


def no_old_bigram(kinds: Ints) -> OrderRule:
    """No two neighbours were neighbours, in this order, as words: equal words count as equal."""
    if len(kinds) < 2:
        return lambda rows: np.zeros(len(rows), dtype=bool)
    old = Bigrams.of(kinds)
    return lambda rows: np.asarray(~old.hold(kinds[rows[:, :-1]], kinds[rows[:, 1:]]).any(axis=1))


def without_old_bigrams(kinds: Ints, count: int, rng: Generator) -> tuple[Ints, int | None]:
    """Distinct orders with no old bigram: uniform, or else random ones repaired by swaps."""
    old = Bigrams.of(kinds)
    max_rounds = 0 if old.return_surely(kinds, len(kinds)) else 8
    rows, available = distinct_orders(
        len(kinds), count, rng, rule=no_old_bigram(kinds), max_rounds=max_rounds
    )
    if len(rows) >= count or available is not None:
        return rows, available
    repaired = [
        repaired_order(row, kinds, kinds, old, rng)
        for row in random_orders(len(kinds), count - len(rows), rng)
    ]
    found = [row[None, :] for row in repaired if row is not None]
    return without_repeats(np.concatenate([rows, *found])), None


@dataclass(frozen=True)
class Bigrams:
    """The pairs of neighbours in a text, as words."""

    size: int
    pairs: Ints

    @classmethod
    def of(cls, kinds: Ints) -> Bigrams:
        """Those of a text whose words have these numbers."""
        size = int(kinds.max(initial=0)) + 1
        return cls(size, np.unique(kinds[:-1] * size + kinds[1:]))

    def hold(self, before: Ints, after: Ints) -> Bools:
        """Which of these pairs are among them."""
        wanted = before * self.size + after
        if self.size > TABULATED:
            return np.isin(wanted, self.pairs)
        table = np.zeros(self.size * self.size, dtype=bool)
        table[self.pairs] = True
        return np.asarray(table[wanted])

    def return_surely(self, kinds: Ints, n_things: int) -> bool:
        """Whether a random order of so many words or runs of a long text is sure to restore one, so
        that none needs to be drawn to find out: letters of a book have nearly every bigram.
        """
        n = len(kinds)
        if n <= COUNTED:
            return False
        shares = np.bincount(kinds, minlength=self.size) / n
        before, after = np.divmod(self.pairs, self.size)
        expected = (n_things - 1) * float((shares[before] * shares[after]).sum())
        return expected > SURE


def repaired_order(
    row: Ints, firsts: Ints, lasts: Ints, old: Bigrams, rng: Generator
) -> Ints | None:
    """Swap things of a random order until none makes an old bigram with the next; None if that is
    not found.

    Things are words, or runs of words that begin with `firsts` and end with `lasts`.
    """
    bad: list[int] = np.flatnonzero(old.hold(lasts[row[:-1]], firsts[row[1:]])).tolist()
    known = set(old.pairs.tolist())
    ends = (lasts * old.size).tolist()
    starts = firsts.tolist()
    order: list[int] = row.tolist()
    for _ in range(REPAIRS):
        if not bad:
            return np.array(order, dtype=row.dtype)
        i = bad[int(rng.integers(len(bad)))] + int(rng.integers(2))
        j = int(rng.integers(len(order)))
        # a swap changes the pairs around its two places only: no other is looked at again
        near = {k for k in (i - 1, i, j - 1, j) if 0 <= k < len(order) - 1}
        before = [k for k in near if _holds(bad, k)]
        order[i], order[j] = order[j], order[i]
        after = [k for k in near if ends[order[k]] + starts[order[k + 1]] in known]
        if len(after) > len(before):
            order[i], order[j] = order[j], order[i]
            continue
        for k in before:
            bad.pop(bisect_left(bad, k))
        for k in after:
            insort(bad, k)
    return None


def _holds(places: list[int], place: int) -> bool:
    """Whether a sorted list holds a place."""
    at = bisect_left(places, place)
    return at < len(places) and places[at] == place


def expand(runs: Ints, orders: Ints) -> Ints:
    """Word positions for orders of runs: word i is in run `runs[i]`, in which words stay."""
    ranks = np.argsort(orders, axis=1)
    return np.argsort(ranks[:, runs], axis=1, kind="stable")


def _bulk(n: int, wanted: int) -> int:
    return max(1, min(wanted, BULK // max(n, 1)))


def without_repeats(rows: Ints) -> Ints:
    """The rows in the order they came, each once."""
    return rows[_first_of_each(rows)]


def read_once(rows: Ints, kinds: Ints) -> Ints:
    """The rows in the order they came, each reading once: equal words count as equal."""
    return rows[_first_of_each(kinds[rows])]


def _first_of_each(rows: Ints) -> Ints | slice:
    # Rows with different sums are different: one number per row usually settles it, without
    # sorting whole rows.
    sums = rows @ _SPREAD[: rows.shape[1]] if rows.shape[1] <= len(_SPREAD) else None
    if sums is not None and len(set(sums.tolist())) == len(rows):
        return slice(None)
    return np.sort(np.unique(rows, axis=0, return_index=True)[1])


def unchanged(sentence: Sentence) -> PositionRows:
    """The sentence as it is."""
    return PositionRows(sentence, np.arange(len(sentence))[None, :], is_shared=True)


def emptied(sentence: Sentence) -> PositionRows:
    """No words at all."""
    return PositionRows(sentence, np.empty((1, 0), dtype=np.int64), is_shared=True)


def keep_only(sentence: Sentence, kept: Bools, fidelity: Fidelity) -> PositionRows:
    """The words that are kept, in their order; a text that would be left empty is skipped."""
    if not kept.any():
        raise DoesNotApply("no word of a text would be left")
    return PositionRows(
        sentence,
        np.flatnonzero(kept)[None, :],
        is_shared=True,
        is_spaced_out=fidelity == "released",
    )


def ending(sentence: Sentence, fidelity: Fidelity) -> Ints:
    """The final run of punctuation; in Word Salad's released code only a final full stop."""
    if fidelity == "released":
        return np.arange(len(sentence))[-1:] if sentence.words[-1:] == ["."] else np.arange(0)
    return sentence.tail


def reorder(
    sentence: Sentence,
    orders: Ints,
    fidelity: Fidelity = "paper",
    *,
    available: int | None = None,
    is_shared: bool = False,
) -> PositionRows:
    """Rows that put the words before the ending in these orders, as that fidelity writes them."""
    kept = np.tile(ending(sentence, fidelity), (len(orders), 1))
    released = fidelity == "released"
    positions = np.concatenate([orders, kept], axis=1).astype(np.int64)
    return PositionRows(
        sentence, positions, available, is_shared, is_spaced_out=released, is_lowered=released
    )


def alphabetical(sentence: Sentence, fidelity: Fidelity) -> PositionRows:
    """The words in alphabetical order, case ignored, equal words as they stood."""
    n = len(sentence) - len(ending(sentence, fidelity))
    order = sorted(range(n), key=lambda i: (sentence.words[i].casefold(), i))
    orders = np.array([order], dtype=np.int64).reshape(1, n)
    return reorder(sentence, orders, fidelity, is_shared=True)


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
    """Up to `count` pairs of places with different words, uniformly, none twice; one per row."""
    total = n_pairs(kinds)
    if not total:
        return np.empty((0, 2), dtype=np.int64)
    until = np.cumsum(np.arange(len(kinds))[::-1] - n_later_equal(kinds))
    ranks = rng.choice(total, size=min(count, total), replace=False)
    first = np.searchsorted(until, ranks, side="right")
    # the later places with another word than place i, counted from its end, as `until` is
    second = [
        (i + 1 + np.flatnonzero(kinds[i + 1 :] != kinds[i]))[rank - until[i]]
        for i, rank in zip(first.tolist(), ranks, strict=True)
    ]
    return np.stack([first, np.array(second, dtype=np.int64)], axis=1)


def traded(sentence: Sentence, places: Ints, count: int, rng: Generator) -> PositionRows:
    """Rows in which two different words, of those at `places`, have traded places."""
    kinds = sentence.kinds[places]
    pairs = places[distinct_pairs(kinds, count, rng)]
    rows = np.tile(np.arange(len(sentence)), (len(pairs), 1))
    every = np.arange(len(pairs))
    rows[every, pairs[:, 0]] = pairs[:, 1]
    rows[every, pairs[:, 1]] = pairs[:, 0]
    return PositionRows(sentence, rows, n_pairs(kinds))
