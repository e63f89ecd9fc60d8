"""Disorder: how far a text is from its original order, from positions alone.

Global disorder is how far units went, local disorder how many lost their right neighbour; both are
0 for the original order and 1 for the worst, whatever the length, and are also measured for
characters, which move with their word. Beside them, the share of bigrams that survive as words, and
Kendall's τ. After the displacement counts of Clouâtre et al. (2022); see docs/definitions.md.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from disorder.transformations.positions.orders import Bigrams
from disorder.types import DISORDER, Bools, Floats, Ints, PositionRows, Sentence, Variants

FEW = 40  # units whose pairs are compared one by one, which is quicker than sorting up to there

Measured = dict[str, Floats]  # measure → one number per row; NaN where it has none


def variant_disorder(variants: Variants) -> Measured:
    """The disorder of each variant of an example: the mean of the texts that are perturbed."""
    n = len(variants)
    found = [disorder_of(rows) for rows in variants.sides if not _is_unchanged(rows)]
    if not found:
        return _missing(n)
    if len(found) == 1:
        shared = len(found[0][DISORDER[0]]) != n
        return {
            name: np.broadcast_to(value, n) if shared else value for name, value in found[0].items()
        }
    return {
        name: np.mean([np.broadcast_to(side[name], n) for side in found], axis=0)
        for name in DISORDER
    }


def _is_unchanged(rows: PositionRows) -> bool:
    """Whether a text was left alone."""
    return (
        rows.is_shared
        and rows.written is None
        and np.array_equal(rows.positions[0], np.arange(len(rows.sentence)))
    )


def _missing(n: int) -> Measured:
    return {name: np.full(n, np.nan) for name in DISORDER}


def disorder_of(rows: PositionRows) -> Measured:
    """The disorder of each row, of the units left; none where units repeat or are written."""
    if rows.written is not None:
        return _missing(len(rows))
    ordered = np.sort(rows.positions, axis=1)
    is_once = (ordered[:, 1:] > ordered[:, :-1]).all(axis=1)
    places = rows.positions[is_once]
    order = places
    if places.shape[1] < len(rows.sentence):  # of all units, places are the order already
        order = _inverse(np.argsort(places, axis=1))
    kept = order[:, 1:] == order[:, :-1] + 1
    sizes = (rows.sentence.ends - rows.sentence.starts)[places]
    values = {
        "global_disorder": _travelled(order),
        "local_disorder": _neighbours_lost(kept),
        "global_disorder_char": _travelled_chars(order, sizes),
        # characters inside a unit keep their neighbour
        "local_disorder_char": (~kept).sum(axis=1) / np.maximum(1, sizes.sum(axis=1) - 1),
        "surviving_bigrams": _bigrams_kept(rows.sentence, places),
        "kendall_tau": kendall(order),
    }
    if is_once.all():
        return {name: np.asarray(value, dtype=np.float64) for name, value in values.items()}
    found = _missing(len(rows))
    for name, value in values.items():
        found[name][is_once] = value
    return found


def _inverse(order: Ints) -> Ints:
    """Where each unit of a row stands."""
    found = np.empty_like(order)
    np.put_along_axis(found, order, np.arange(order.shape[1])[None, :], axis=1)
    return found


def _travelled(order: Ints) -> Floats:
    """Mean distance from home, over that of the worst order (n²/2 places in all, rounded down)."""
    n = order.shape[1]
    total = np.abs(order - np.arange(n)).sum(axis=1)
    return np.asarray(total / max(1, n * n // 2))


def _neighbours_lost(kept: Bools) -> Floats:
    """The share of the n − 1 units with a right neighbour that have another one now."""
    if not kept.shape[1]:
        return np.zeros(len(kept))
    return np.asarray(1 - kept.mean(axis=1))


def _bigrams_kept(sentence: Sentence, places: Ints) -> Floats:
    """The share of the pairs of neighbours that are pairs of the original text, as words."""
    if places.shape[1] < 2:
        return np.ones(len(places))
    kinds = sentence.kinds
    old = Bigrams.of(kinds)
    return np.asarray(old.hold(kinds[places[:, :-1]], kinds[places[:, 1:]]).mean(axis=1))


def kendall(order: Ints) -> Floats:
    """Kendall's τ of each row with the original order: 1 for the original, −1 for its reverse."""
    n = order.shape[1]
    if n < 2:
        return np.ones(len(order))
    return np.asarray(1 - 4 * inversions(order) / (n * (n - 1)))


def inversions(order: Ints) -> Ints:
    """How many pairs stand the wrong way round: all pairs of few units, else in n log n."""
    return _inversions_of_few(order) if order.shape[1] <= FEW else _inversions_of_many(order)


def _inversions_of_few(order: Ints) -> Ints:
    """Each unit against all to its right."""
    n = order.shape[1]
    is_greater = order[:, :, None] > order[:, None, :]
    return np.asarray(np.count_nonzero(is_greater & _to_the_right(n), axis=(1, 2)))


@lru_cache(maxsize=FEW + 1)
def _to_the_right(n: int) -> Bools:
    """Which of n places lies to the right of which."""
    return np.triu(np.ones((n, n), dtype=bool), 1)


def _inversions_of_many(order: Ints) -> Ints:
    """Bit by bit.

    Two numbers that agree in all higher bits are the wrong way round just where a one of this bit
    comes before a zero; a stable sort by the higher bits keeps their order in the row.
    """
    n_rows, n = order.shape
    found = np.zeros(n_rows, dtype=np.int64)
    for bit in range(max(1, (n - 1).bit_length())):
        higher = order >> (bit + 1)
        by_higher = np.argsort(higher, axis=1, kind="stable")
        ones = np.take_along_axis((order >> bit) & 1, by_higher, axis=1)
        group = np.take_along_axis(higher, by_higher, axis=1)
        before = np.cumsum(ones, axis=1) - ones
        begins = np.ones((n_rows, n), dtype=bool)
        begins[:, 1:] = group[:, 1:] != group[:, :-1]
        at_start = np.maximum.accumulate(np.where(begins, before, 0), axis=1)
        found += ((before - at_start) * (1 - ones)).sum(axis=1)
    return found


def _travelled_chars(order: Ints, sizes: Ints) -> Floats:
    """As `_travelled`, for characters: all those of a unit go as far as it does."""
    total = sizes.sum(axis=1)
    now = np.cumsum(sizes, axis=1) - sizes
    at_home = np.take_along_axis(sizes, _inverse(order), axis=1)
    then = np.take_along_axis(np.cumsum(at_home, axis=1) - at_home, order, axis=1)
    moved = (sizes * np.abs(now - then)).sum(axis=1)
    return np.asarray(moved / np.maximum(1, total * total // 2))
