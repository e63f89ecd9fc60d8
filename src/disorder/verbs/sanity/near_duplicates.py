"""Nearly equal rows, found by MinHash in bands (Broder, 1997).

Two rows are as similar as the less similar of their texts: one long premise under two hypotheses is
no repeat. Half of each band comes from either text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from disorder.data.word_hashes import (
    DEPTH,
    GOLDEN,
    N_BANDS,
    Hashes,
    Match,
    band_neighbours,
    distinct,
    hashes,
    signatures,
)
from disorder.types import Example

NEAR = 0.8  # Jaccard similarity of words and neighbouring words from which texts are nearly equal
Shingles = tuple[Hashes, Hashes]  # of the first and the second text


def shingles(example: Example) -> Shingles:
    """The distinct words and pairs of neighbouring words of each text."""
    first, second = (_shingles_of(text or "") for text in example.texts)
    return first, second


def _shingles_of(text: str) -> Hashes:
    with np.errstate(over="ignore"):
        words = (hashes(text) + np.uint64(1)) * GOLDEN
        neighbours = (words[:-1] ^ (words[1:] >> np.uint64(7))) * GOLDEN
    return np.asarray(distinct(np.concatenate([words, neighbours])))


def near_matches(
    rows: Sequence[Shingles], n_old: int, counts: Callable[[int, int], bool]
) -> list[Match]:
    """Rows whose texts are both nearly those of an earlier row, with the earliest one found.

    Only pairs for which `counts` is true are taken; with `n_old`, only later rows that are similar
    to one of the first so many.
    """
    kept = np.array([i for i, (a, b) in enumerate(rows) if len(a) + len(b)], dtype=np.int64)
    if len(kept) < 2:
        return []
    signed = _row_signatures([rows[i] for i in kept.tolist()])
    n_old_kept = int((kept < n_old).sum())
    best: dict[int, int] = {}
    compared: set[Match] = set()
    for band in range(N_BANDS):
        columns = signed[:, band * DEPTH : (band + 1) * DEPTH]
        for later, earlier in band_neighbours(columns, n_old_kept):
            i = int(kept[later])
            j = int(kept[earlier])
            if (i, j) in compared or best.get(i, i) <= j:
                continue
            compared.add((i, j))
            if row_similarity(rows[i], rows[j]) >= NEAR and counts(i, j):
                best[i] = j
    return sorted(best.items())


def _row_signatures(rows: Sequence[Shingles]) -> Hashes:
    """Signatures in which half of every band comes from either text; all from the first where
    there are no second ones.
    """
    found = signatures([first for first, _ in rows])
    if any(len(second) for _, second in rows):
        is_second = np.arange(N_BANDS * DEPTH) % 2 == 1
        found[:, is_second] = signatures([second for _, second in rows])[:, is_second]
    return found


def row_similarity(one: Shingles, other: Shingles) -> float:
    """The similarity of the less similar of the two texts."""
    return min(_jaccard(a, b) for a, b in zip(one, other, strict=True))


def _jaccard(a: Hashes, b: Hashes) -> float:
    """Shared shingles among all; 1 for two texts without words, 0 for lengths too far apart."""
    if min(len(a), len(b)) < NEAR * max(len(a), len(b)):
        return 0.0
    both = len(np.intersect1d(a, b, assume_unique=True))
    if not both:
        return float(len(a) == len(b) == 0)
    return both / (len(a) + len(b) - both)
