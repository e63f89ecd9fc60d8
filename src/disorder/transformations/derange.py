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

from disorder.registry import transformation
from disorder.transformations.positions.orders import (
    COUNTED,
    distinct_orders,
    n_derangements,
    no_fixed_point,
)
from disorder.types import Fidelity, Ints, PositionRows, Sentence


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
    fidelity: Fidelity = "paper",
) -> PositionRows:
    """Move every word away from its place; punctuation stays unless it is free.

    fidelity=released repeats the authors' code: seeds 0, 1, 2, … give orders that depend on the
    number of words alone.
    """
    movable = sentence.movable if punctuation == "fixed" else np.arange(len(sentence))
    if fidelity == "released":
        orders = released_orders(len(movable), count)
        available: int | None = len(orders) if len(orders) < count else None
    else:
        orders, available = derangements(len(movable), count, rng)
    positions = np.tile(np.arange(len(sentence)), (len(orders), 1))
    positions[:, movable] = movable[orders]
    return PositionRows(sentence, positions, available, is_spaced_out=fidelity == "released")


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
