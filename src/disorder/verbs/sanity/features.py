"""What can a quick model see? Numbers for words, for how two texts share them, and for the order
they stand in.

The first of a pair lends its words to the second: content words that both have are numbered by
where the first has them, so that "who did what to whom" is a pattern of numbers that is learned
once for all names. All rows are looked at together: a word is a key, its row in the high half and
its hash in the low half.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from disorder.types import Bools, Ints, Texts

Hashes = NDArray[np.uint64]
Seen = tuple[Ints, Hashes]  # rows, and the features seen in them
BITS = 18
WORD = re.compile(r"[\u3400-\u9fff]|[^\W\u3400-\u9fff]+(?:['’]\w+)?|[^\w\s]")
GOLDEN = np.uint64(
    0x9E3779B97F4A7C15
)  # Fibonacci hashing: the high bits of a product with it are well mixed
HALF, LOW = np.uint64(32), np.uint64(2**32 - 1)
START, END, SHARED = (
    1,
    2,
    100,
)  # numbers that stand for the ends of a text, and for shared words from the first on
COMMON = 0.05  # words in more than this share of the texts are grammar rather than content
CROSSED, PATTERN, BESIDE = (
    40,
    7,
    30,
)  # words, shared words, and other words of a row that are set against each other
WINDOW, SHORT_WINDOW = 12, 4


@lru_cache(maxsize=200_000)
def _number(word: str) -> int:
    return crc32(word.encode("utf-8", "surrogatepass"))


@lru_cache(maxsize=50_000)
def hashes(text: str) -> Hashes:
    """A number for each word of a text."""
    return np.array([_number(word) for word in WORD.findall(text.lower())], dtype=np.uint64)


def common(texts: Sequence[Texts]) -> Hashes:
    """The words that stand in so many texts that they are grammar."""
    every = [text for pair in texts for text in pair if text]
    found, counts = np.unique(_low(distinct(_keys(every))), return_counts=True)
    return np.asarray(found[counts > COMMON * len(every)])


def words(texts: Sequence[Texts]) -> Seen:
    """Which words there are; for pairs also which both have, and how those that only one has face
    each other.
    """
    first = distinct(_keys([a for a, _ in texts]))
    if _is_single(texts):
        return _row(first), _mixed(1, _low(first))
    second = distinct(_keys([b or "" for _, b in texts]))
    both = np.intersect1d(first, second, assume_unique=True)
    only_a, only_b = (
        each[~_places(each, both)[1]] if len(both) else each for each in (first, second)
    )
    kinds = zip((1, 2, 3, 4, 6), (first, second, only_a, only_b, both), strict=True)
    found = [(_row(each), _mixed(kind, _low(each))) for kind, each in kinds]
    crossed = _crossed(5, _first_few(only_a, CROSSED), _first_few(only_b, CROSSED), len(texts))
    return _together(*found, crossed, overlap(texts))


def order(texts: Sequence[Texts], grammar: Hashes) -> Seen:
    """In which order the words stand: neighbours, who comes before whom, and where the words of `a`
    stand in `b`.
    """
    first = _keys([a for a, _ in texts], ends=True)
    if _is_single(texts):
        return _together(*_sequence(20, first, WINDOW))
    second = _keys([b or "" for _, b in texts], ends=True)
    return _together(_next(30, first), _next(31, second), *_aligned(texts, grammar))


def length(texts: Sequence[Texts]) -> Seen:
    """How long the texts are, and nothing else."""
    n = np.array([len(hashes(a)) for a, _ in texts])
    m = np.array([0 if b is None else len(hashes(b)) for _, b in texts])
    ratio = np.where(n > m, np.round(10 * m / np.maximum(n, 1)).astype(int), 11)
    bins = [
        np.minimum(n, 60),
        np.minimum(m, 60),
        _bin(n),
        _bin(m),
        20 * _bin(n) + _bin(m),
        np.clip(n - m, -20, 20) + 20,
        ratio,
    ]
    return _binned(40, bins)


def overlap(texts: Sequence[Texts]) -> Seen:
    """How many words the texts share, and nothing else."""
    first, second = (
        distinct(_keys([a for a, _ in texts])),
        distinct(_keys([b or "" for _, b in texts])),
    )
    both = np.bincount(
        _row(np.intersect1d(first, second, assume_unique=True)), minlength=len(texts)
    )
    n, m = (np.bincount(_row(each), minlength=len(texts)) for each in (first, second))
    of_b = np.round(20 * both / np.maximum(1, m)).astype(int)
    of_all = np.round(20 * both / np.maximum(1, n + m - both)).astype(int)
    return _binned(
        47, [np.minimum(m - both, 12), _bin(n - both), of_b, of_all, np.minimum(both, 20)]
    )


def share_overlap(a: str, b: str | None) -> float:
    """The share of the distinct words of `b` that `a` has too."""
    first, second = set(hashes(a).tolist()), set(hashes(b or "").tolist())
    return len(first & second) / max(1, len(second))


def _aligned(texts: Sequence[Texts], grammar: Hashes) -> list[Seen]:
    """The second text with the content words that it shares replaced by their number in the first."""
    first, second = _keys([a for a, _ in texts]), _keys([b or "" for _, b in texts], ends=True)
    shared = np.intersect1d(distinct(first), distinct(second), assume_unique=True)
    shared = shared[~np.isin(_low(shared), grammar)]
    if not len(shared):
        return _sequence(60, second, SHORT_WINDOW)
    rank = _ranks(shared, first)
    places, is_shared = _places(second, shared)
    symbols = second.copy()
    symbols[is_shared] = (_row(second[is_shared]).astype(np.uint64) << HALF) | (
        np.uint64(SHARED) + rank[places[is_shared]]
    )
    pattern = _first_few((second[is_shared] & ~LOW) | rank[places[is_shared]], PATTERN)
    every = distinct(np.concatenate([first, second]))
    others = every[~_places(every, shared)[1]]
    whole = _wholes(pattern)
    pairs = [_paired(pattern, gap) for gap in range(1, PATTERN)]
    before = np.sort(np.concatenate(pairs))
    beside = _crossed(53, before, _first_few(others, BESIDE), len(texts))
    return [
        *_sequence(60, symbols, SHORT_WINDOW),
        (_row(whole), _mixed(50, _low(whole))),
        _crossed(51, whole, others, len(texts)),
        (_row(before), _mixed(52, _low(before))),
        beside,
    ]


def _ranks(shared: Hashes, first: Hashes) -> Hashes:
    """For each shared word the number of shared words that the first text has before it."""
    places, is_shared = _places(first, shared)
    earliest = np.full(len(shared), len(first), dtype=np.int64)
    np.minimum.at(earliest, places[is_shared], np.flatnonzero(is_shared))
    turns = np.lexsort((earliest, _row(shared)))
    found = np.empty(len(shared), dtype=np.uint64)
    found[turns] = _within(_row(shared)[turns]).astype(np.uint64)
    return np.minimum(found, np.uint64(20))


def _places(keys: Hashes, known: Hashes) -> tuple[Ints, Bools]:
    """Where each key stands among the known ones, and whether it does."""
    places = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return places, np.asarray(known[places] == keys)


def _wholes(pattern: Hashes) -> Hashes:
    """One key a row that stands for its whole pattern."""
    rows = _row(pattern)
    starts = np.flatnonzero(np.append(True, rows[1:] != rows[:-1]))
    with np.errstate(over="ignore"):
        terms = (_low(pattern) + np.uint64(1)) * (
            GOLDEN ** (_within(rows).astype(np.uint64) + np.uint64(1))
        )
        sums = np.add.reduceat(terms, starts)
    return np.asarray((pattern[starts] & ~LOW) | (sums >> HALF))


def _paired(pattern: Hashes, gap: int) -> Hashes:
    """Which shared word comes how many shared words before which."""
    left, right = pattern[:-gap], pattern[gap:]
    same = _row(left) == _row(right)
    return np.asarray((left[same] & ~LOW) | (_low(left[same]) * np.uint64(32) + _low(right[same])))


def _sequence(kind: int, keys: Hashes, window: int) -> list[Seen]:
    """Two and three words in a row, and which word comes how soon after which."""
    left, middle, right = keys[:-2], keys[1:-1], keys[2:]
    same = _row(left) == _row(right)
    threes = (
        _row(left)[same],
        _mixed(kind + 1, _low(left[same]), _low(middle[same]), _low(right[same])),
    )
    return [
        _next(kind, keys),
        threes,
        *(_next(kind + 2, keys, gap) for gap in range(2, window + 1)),
    ]


def _next(kind: int, keys: Hashes, gap: int = 1) -> Seen:
    """Each word with the one so many places after it."""
    left, right = keys[:-gap], keys[gap:]
    same = _row(left) == _row(right)
    return _row(left)[same], _mixed(kind, _low(left[same]), _low(right[same]))


def _crossed(kind: int, left: Hashes, right: Hashes, n_rows: int) -> Seen:
    """Every key of the left with every key of the right of the same row; both are sorted by row."""
    counts = np.bincount(_row(right), minlength=n_rows)
    starts = np.cumsum(counts) - counts
    times = counts[_row(left)]
    ones = np.repeat(left, times)
    inner = np.arange(len(ones)) - np.repeat(np.cumsum(times) - times, times)
    others = right[starts[_row(ones)] + inner] if len(ones) else right[:0]
    return _row(ones), _mixed(kind, _low(ones), _low(others))


def _keys(texts: Sequence[str], *, ends: bool = False) -> Hashes:
    """The words of all texts one after the other, as keys."""
    start, end = (np.array([number] if ends else [], dtype=np.uint64) for number in (START, END))
    found = [np.concatenate([start, hashes(text), end]) if ends else hashes(text) for text in texts]
    rows = np.repeat(np.arange(len(texts), dtype=np.uint64), [len(each) for each in found])
    return np.asarray((rows << HALF) | (np.concatenate(found) if found else start))


def distinct(keys: Any) -> Any:
    """Each key once, sorted; quicker than numpy's own for as many as these."""
    ordered = np.sort(keys)
    return ordered[np.append(True, ordered[1:] != ordered[:-1])] if len(ordered) else ordered


def _row(keys: Hashes) -> Ints:
    return (keys >> HALF).astype(np.int64)


def _low(keys: Hashes) -> Hashes:
    return np.asarray(keys & LOW)


def _within(rows: Ints) -> Ints:
    """The place of each entry among those of its row; rows stand together."""
    starts = (
        np.flatnonzero(np.append(True, rows[1:] != rows[:-1]))
        if len(rows)
        else np.empty(0, dtype=np.int64)
    )
    return np.asarray(
        np.arange(len(rows)) - np.repeat(starts, np.diff(np.append(starts, len(rows))))
    )


def _first_few(keys: Hashes, n: int) -> Hashes:
    """At most so many keys of each row, so that long texts stay cheap."""
    return np.asarray(keys[_within(_row(keys)) < n])


def _is_single(texts: Sequence[Texts]) -> bool:
    return bool(texts) and texts[0][1] is None


def _bin(n: Ints) -> Ints:
    """Finer for few, coarser for many."""
    return np.minimum(19, (2 * np.log2(n + 1)).astype(np.int64))


def _binned(kind: int, bins: Sequence[Ints]) -> Seen:
    """A feature for each number and its value."""
    rows = np.arange(len(bins[0]))
    return _together(
        *((rows, _mixed(kind + i, each.astype(np.uint64))) for i, each in enumerate(bins))
    )


def _together(*seen: Seen) -> Seen:
    return np.concatenate([rows for rows, _ in seen]), np.concatenate(
        [features for _, features in seen]
    )


def _mixed(kind: int, *columns: Hashes) -> Hashes:
    """Feature numbers below 2**BITS: one for each kind and combination."""
    with np.errstate(over="ignore"):
        found: Hashes = np.asarray(np.uint64(kind) * GOLDEN)
        for column in columns:
            found = (found ^ column) * GOLDEN
            found = found ^ (found >> np.uint64(29))
        return np.asarray((found * GOLDEN) >> np.uint64(64 - BITS))
