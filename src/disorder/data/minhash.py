"""MinHash in bands (Broder, 1997): which sets of words are worth comparing.

Sets that agree in a band are compared, each with two others only, so that the cost grows with their
number and not with its square. Written here because libraries for MinHash compare every row with
every other of a bucket.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from disorder.data.word_hashes import GOLDEN, Hashes
from disorder.randomness import generator

N_BANDS = 10
DEPTH = 4  # hash functions per band
Match = tuple[int, int]  # a row, and an earlier one that it repeats


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
