"""The words of a text as numbers, so that many texts are compared at once; and MinHash in bands
(Broder, 1997), which says which of them are worth comparing.

Sets that agree in a band are compared, each with two others only, so that the cost grows with their
number and not with its square. Written here because libraries for MinHash compare every row with
every other of a bucket.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from disorder.languages import segments
from disorder.randomness import generator

Hashes = NDArray[np.uint64]
WORD = re.compile(r"\w+(?:['’]\w+)?|[^\w\s]")
# scripts without spaces, or with vowels that are marks, which the pattern would cut
HAN = re.compile(r"[\u3400-\u9fff]")
BY_UNICODE = re.compile(r"[\u0590-\u1dff\u2e80-\ua4cf\ua800-\uabff\uf900-\ufaff]")
# Fibonacci hashing: the high bits of a product with it are well mixed.
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
N_BANDS = 10
DEPTH = 4  # hash functions per band
Match = tuple[int, int]  # a row, and an earlier one that it repeats
Link = tuple[int, int, float]  # two sets, and how similar they are


@lru_cache(maxsize=200_000)
def _number(word: str) -> int:
    return crc32(word.encode("utf-8", "surrogatepass"))


@lru_cache(maxsize=50_000)
def hashes(text: str) -> Hashes:
    """A number for each word of a text; of Chinese texts for each character.

    The words of a shuffled Chinese text are cut elsewhere: to a bag of words order would matter.
    """
    return hashed(words_of(HAN.sub(r" \g<0> ", text)))


def words_of(text: str) -> list[str]:
    """The words and punctuation marks of a text, in lower case, whatever its language.

    >>> words_of("It's here!"), words_of("我喜欢苹果。")
    (["it's", 'here', '!'], ['我', '喜欢', '苹果', '。'])
    """
    lowered = text.lower()
    if not BY_UNICODE.search(lowered):
        return WORD.findall(lowered)
    bounds = segments(lowered, "word")
    pieces = (lowered[i:j].strip() for i, j in pairwise(bounds))
    return [piece for piece in pieces if piece]


def hashed(words: Sequence[str]) -> Hashes:
    """A number for each word."""
    return np.array([_number(word) for word in words], dtype=np.uint64)


def distinct(keys: Any) -> Any:
    """Each key once, sorted; quicker than `np.unique` for as many as these."""
    ordered = np.sort(keys)
    if not len(ordered):
        return ordered
    return ordered[np.append(True, ordered[1:] != ordered[:-1])]


def signatures(texts: Sequence[Hashes]) -> Hashes:
    """The least shingle of each text under forty hash functions; 0 for a text without words."""
    found = np.zeros((len(texts), N_BANDS * DEPTH), dtype=np.uint64)
    has_words = np.array([len(text) > 0 for text in texts])
    if not has_words.any():
        return found
    chosen = [text for text in texts if len(text)]
    starts = np.concatenate([[0], np.cumsum([len(text) for text in chosen])[:-1]])
    together = np.concatenate(chosen)
    rng = generator(0, "sanity", "minhash")
    factors = rng.integers(1, 2**63, size=N_BANDS * DEPTH, dtype=np.uint64) | np.uint64(1)
    for column, factor in enumerate(factors):
        with np.errstate(over="ignore"):
            mixed = together * factor
            mixed = (mixed ^ (mixed >> np.uint64(31))) * GOLDEN
        found[has_words, column] = np.minimum.reduceat(mixed, starts)
    return found


def band_neighbours(band: Hashes, n_old: int) -> Iterator[Match]:
    """Rows that agree in a band, each with the first of them and with the one before.

    With `n_old`, later rows with one of the first so many only.
    """
    order = np.lexsort((np.arange(len(band)), *band.T[::-1]))
    same = (band[order[1:]] == band[order[:-1]]).all(axis=1)
    first = int(order[0])
    last = first
    for row, is_same in zip(order[1:].tolist(), same.tolist(), strict=True):
        if not is_same:
            first = row
            last = row
            continue
        if not n_old or first < n_old <= row:
            yield from ((row, earlier) for earlier in dict.fromkeys((first, last)))
        if not n_old or row < n_old:
            last = row


@lru_cache(maxsize=50_000)
def word_set(text: str) -> Hashes:
    """The distinct words of a text, without punctuation, as sorted numbers."""
    words = [word for word in words_of(text) if word[0].isalnum()]
    return np.asarray(distinct(hashed(words)))


def similar_sets(sets: Sequence[Hashes], least: float) -> Iterator[Link]:
    """Pairs of sets whose Jaccard similarity reaches `least`.

    Each set is compared with two others per band of MinHash, so that the cost grows with the number
    of sets and not with its square: enough to join them, not every pair.
    """
    if len(sets) < 2:
        return
    signed = signatures(sets)
    members: dict[int, frozenset[int]] = {}
    compared: set[tuple[int, int]] = set()
    for band in range(N_BANDS):
        for pair in band_neighbours(signed[:, band * DEPTH : (band + 1) * DEPTH], 0):
            if pair in compared:
                continue
            compared.add(pair)
            one, other = (_members(members, sets, i) for i in pair)
            both = len(one & other)
            similarity = both / (len(one) + len(other) - both)
            if similarity >= least:
                yield *pair, similarity


def _members(known: dict[int, frozenset[int]], sets: Sequence[Hashes], i: int) -> frozenset[int]:
    if i not in known:
        known[i] = frozenset(sets[i].tolist())
    return known[i]
