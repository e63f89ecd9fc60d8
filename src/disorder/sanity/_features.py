"""What can a quick model see? Numbers for words, for how two texts share them, and for the order they stand in.

The first of a pair lends its words to the second: content words that both have are numbered by where the first has them, so
that "who did what to whom" is a pattern of numbers that is learned once for all names.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from disorder.types import Texts

Hashes = NDArray[np.uint64]
BITS = 18
WORD = re.compile(r"[\u3400-\u9fff]|[^\W\u3400-\u9fff]+(?:['’]\w+)?|[^\w\s]")
GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # Fibonacci hashing: the high bits of a product with it are well mixed
START, END = np.array([1], dtype=np.uint64), np.array([2], dtype=np.uint64)
SHARED = 100  # shared words are numbered from here
COMMON = 0.05  # words in more than this share of the texts are no content words
MOST = {"crossed": 40, "pattern": 8, "pairs": 20, "beside": 30, "rank": 20}  # bounds that keep long texts cheap
WINDOW, SHORT_WINDOW = 12, 4


@lru_cache(maxsize=200_000)
def _number(word: str) -> int:
    return crc32(word.encode("utf-8", "surrogatepass"))


@lru_cache(maxsize=50_000)
def hashes(text: str) -> Hashes:
    """A number for each word of a text."""
    return np.array([_number(word) for word in WORD.findall(text.lower())], dtype=np.uint64)


def common(texts: Iterable[Texts]) -> frozenset[int]:
    """The words that stand in so many texts that they are grammar rather than content."""
    counts, n = Counter[int](), 0
    for pair in texts:
        for text in pair:
            if text:
                counts.update(set(hashes(text).tolist()))
                n += 1
    return frozenset(word for word, count in counts.items() if count > COMMON * n)


def words(a: str, b: str | None) -> Hashes:
    """Which words there are; for pairs also which both have, and how those that only one has face each other."""
    first = np.unique(hashes(a))
    if b is None:
        return _mixed(1, first)
    second = np.unique(hashes(b))
    both = np.intersect1d(first, second, assume_unique=True)
    only_a, only_b = np.setdiff1d(first, both, assume_unique=True), np.setdiff1d(second, both, assume_unique=True)
    crossed = _crossed(5, only_a[: MOST["crossed"]], only_b[: MOST["crossed"]])
    parts = [_mixed(1, first), _mixed(2, second), _mixed(3, only_a), _mixed(4, only_b), crossed, _mixed(6, both)]
    return np.unique(np.concatenate([*parts, overlap(a, b)]))


def order(a: str, b: str | None, grammar: frozenset[int]) -> Hashes:
    """In which order the words stand: neighbours, who comes before whom, and where the words of `a` stand in `b`."""
    first = np.concatenate([START, hashes(a), END])
    if b is None:
        return np.unique(np.concatenate(_sequence(20, first, WINDOW)))
    second = np.concatenate([START, hashes(b), END])
    parts = [_mixed(30, first[:-1], first[1:]), _mixed(31, second[:-1], second[1:]), *_aligned(a, b, grammar)]
    return np.unique(np.concatenate(parts))


def length(a: str, b: str | None) -> Hashes:
    """How long the texts are, and nothing else."""
    n, m = len(hashes(a)), 0 if b is None else len(hashes(b))
    bins = [min(n, 60), 100 + min(m, 60), 200 + _bin(n), 300 + _bin(m), 400 + 20 * _bin(n) + _bin(m)]
    bins += [900 + int(np.clip(n - m, -20, 20)), 1000 + round(10 * m / max(n, 1)) if n > m else 1100]
    return _mixed(40, np.array(bins, dtype=np.int64).astype(np.uint64))


def overlap(a: str, b: str | None) -> Hashes:
    """How many words the texts share, and nothing else."""
    if b is None:
        return np.empty(0, dtype=np.uint64)
    first, second = set(hashes(a).tolist()), set(hashes(b).tolist())
    both = len(first & second)
    missing, dropped = len(second) - both, len(first) - both
    bins = [min(missing, 12), 50 + _bin(dropped), 100 + round(20 * both / max(1, len(second)))]
    bins += [150 + round(20 * both / max(1, len(first | second))), 200 + min(both, 20)]
    return _mixed(41, np.array(bins, dtype=np.uint64))


def share_overlap(a: str, b: str | None) -> float:
    """The share of the distinct words of `b` that `a` has too."""
    first, second = set(hashes(a).tolist()), set(hashes(b or "").tolist())
    return len(first & second) / max(1, len(second))


def _bin(n: int) -> int:
    """Finer for few, coarser for many."""
    return min(19, int(4 * np.log2(n + 1)) // 2)


def _sequence(kind: int, words: Hashes, window: int) -> list[Hashes]:
    """Two and three words in a row, and which word comes how soon after which."""
    found = [_mixed(kind, words[:-1], words[1:]), _mixed(kind + 1, words[:-2], words[1:-1], words[2:])]
    gaps = range(2, min(window, len(words) - 1) + 1)
    return found + [_mixed(kind + 2, words[:-gap], words[gap:]) for gap in gaps]


def _aligned(a: str, b: str, grammar: frozenset[int]) -> list[Hashes]:
    """The second text with the content words that it shares replaced by their number in the first."""
    first, second = hashes(a).tolist(), hashes(b).tolist()
    shared = set(first) & set(second) - grammar
    if not shared:
        return []
    rank = {word: min(i, MOST["rank"]) for i, word in enumerate(dict.fromkeys(word for word in first if word in shared))}
    symbols = np.array([1, *(SHARED + rank[word] if word in rank else word for word in second), 2], dtype=np.uint64)
    pattern = np.array([rank[word] for word in second if word in rank][: MOST["rank"]], dtype=np.uint64)
    whole = np.array([crc32(pattern[: MOST["pattern"]].tobytes())], dtype=np.uint64)
    others = np.array(sorted({*first, *second} - set(rank)), dtype=np.uint64)
    left, right = np.triu_indices(len(pattern), 1)
    before = pattern[left] * np.uint64(32) + pattern[right]
    beside = _crossed(53, before[: MOST["pairs"]], others[: MOST["beside"]])
    return [*_sequence(60, symbols, SHORT_WINDOW), _mixed(50, whole), _crossed(51, whole, others), _mixed(52, before), beside]


def _crossed(kind: int, left: Hashes, right: Hashes) -> Hashes:
    """A number for every pair."""
    return _mixed(kind, np.repeat(left, len(right)), np.tile(right, len(left)))


def _mixed(kind: int, *columns: Hashes) -> Hashes:
    """Feature numbers below 2**BITS: one for each kind and combination."""
    with np.errstate(over="ignore"):
        found: Hashes = np.asarray(np.uint64(kind) * GOLDEN)
        for column in columns:
            found = (found ^ column) * GOLDEN
            found = found ^ (found >> np.uint64(29))
        return np.asarray((found * GOLDEN) >> np.uint64(64 - BITS))
