"""Move every word: does a model read word order at all?

The permutation operator of UnNatural Language Inference (Sinha et al., 2021): q distinct orders in
which no word keeps its place. A derangement is over positions: two equal words may trade places.
"""

from __future__ import annotations

import random
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.random import Generator

from disorder.errors import BadSetting
from disorder.registry import transformation
from disorder.transformations.positions.important_words import is_stop_word
from disorder.transformations.positions.orders import (
    COUNTED,
    distinct_orders,
    n_derangements,
    no_fixed_point,
)
from disorder.types import Fidelity, Ints, PositionRows, Sentence

TRIES = 20  # draws per wanted order


@transformation(
    keeps="words",
    keeps_words=True,
    destroys="order",
    paper="UNLI",
    side="both",
    suites=("order", "full"),
    words={"released": "spacy"},
)
def derange(
    sentence: Sentence,
    rng: Generator,
    count: int,
    *,
    punctuation: Literal["fixed", "free"] = "fixed",
    share: float = 1.0,
    keep: Literal["none", "stopwords"] = "none",
    fidelity: Fidelity = "paper",
) -> PositionRows:
    """Move every word away from its place; punctuation stays unless it is free.

    share=0.25 moves a quarter of the words, drawn for each variant, and keep=stopwords leaves
    English function words in their places: how much can be moved before skill is lost?
    fidelity=released repeats the authors' code: seeds 0, 1, 2, … give orders that depend on the
    number of words alone.
    """
    if not 0 < share <= 1:
        raise BadSetting("derange", share=share, need="a share above 0, up to 1")
    if fidelity == "released" and (share < 1 or keep != "none"):
        raise BadSetting("derange", fidelity=fidelity, need="no share and no keep")
    movable = sentence.movable if punctuation == "fixed" else np.arange(len(sentence))
    if keep == "stopwords":
        is_stop = [is_stop_word(sentence.words[i]) for i in movable.tolist()]
        movable = movable[~np.array(is_stop, dtype=bool)]
    if share < 1:
        return _in_part(sentence, movable, rng, count, share)
    if fidelity == "released":
        orders = released_orders(len(movable), count)
        available: int | None = len(orders) if len(orders) < count else None
    else:
        orders, available = derangements(len(movable), count, rng)
    positions = np.tile(np.arange(len(sentence)), (len(orders), 1))
    positions[:, movable] = movable[orders]
    return PositionRows(sentence, positions, available, is_spaced_out=fidelity == "released")


def _in_part(
    sentence: Sentence, movable: Ints, rng: Generator, count: int, share: float
) -> PositionRows:
    """Distinct orders in each of which a share of the words, two at least, trade places."""
    n = len(movable)
    size = min(n, max(2, round(share * n)))
    found: dict[bytes, Ints] = {}
    for _ in range(TRIES * count if n > 1 else 0):
        chosen = np.sort(rng.permutation(n)[:size])
        [order] = derangements(size, 1, rng)[0]
        row = np.arange(len(sentence))
        row[movable[chosen]] = movable[chosen[order]]
        found.setdefault(row.tobytes(), row)
        if len(found) == count:
            break
    rows = np.array(list(found.values()), dtype=np.int64).reshape(len(found), len(sentence))
    return PositionRows(sentence, rows, 0 if n < 2 else None)


def derangements(n: int, count: int, rng: Generator) -> tuple[Ints, int | None]:
    """Up to `count` distinct derangements, and how many there are (None: too many to count)."""
    if n < 2:
        return np.empty((0, n), dtype=np.int64), 0
    orders, _ = distinct_orders(n, count, rng, rule=no_fixed_point)
    return orders, n_derangements(n) if n <= COUNTED else None


@lru_cache(maxsize=512)
def released_orders(n: int, count: int) -> Ints:
    """The distinct orders among those that the released code draws for seeds 0 … count − 1."""
    if n < 2:
        return np.empty((0, n), dtype=np.int64)
    rows = dict.fromkeys(_released_order(n, seed) for seed in range(count))
    return np.array(list(rows), dtype=np.int64)


def _released_order(n: int, seed: int) -> tuple[int, ...]:
    order = list(range(n))
    draw = random.Random(seed)
    while any(i == place for place, i in enumerate(order)):
        draw.shuffle(order)
    return tuple(order)
