"""Delete words: a control with the order of what is left and too few words."""

from __future__ import annotations

from math import comb

import numpy as np
from numpy.random import Generator

from disorder.errors import BadSetting, DoesNotApply
from disorder.registry import transformation
from disorder.transformations.positions.orders import LISTED, random_orders, without_repeats
from disorder.types import PositionRows, Sentence

ROUNDS = 16  # bulk draws before fewer variants than requested have to do


@transformation(
    keeps="the other words and their order",
    destroys="some words",
    side="task",
    draws=10,
)
def delete(sentence: Sentence, rng: Generator, count: int, *, k: int = 1) -> PositionRows:
    """Remove `k` random words; punctuation stays."""
    if k < 1:
        raise BadSetting("delete", k=k, need="1 or more")
    movable = sentence.movable
    if len(movable) <= k:
        raise DoesNotApply(f"it has no more than {k} words")
    gone = np.empty((0, k), dtype=np.int64)
    wanted = min(count, comb(len(movable), k))
    for _ in range(ROUNDS if len(movable) > LISTED else 64 * ROUNDS):
        drawn = np.sort(random_orders(len(movable), 2 * count + 8, rng)[:, :k], axis=1)
        gone = without_repeats(np.concatenate([gone, drawn]))[:count]
        if len(gone) == wanted:
            break
    kept = np.ones((len(gone), len(sentence)), dtype=bool)
    np.put_along_axis(kept, movable[gone], False, axis=1)
    rows = np.nonzero(kept)[1].reshape(len(gone), -1)
    return PositionRows(sentence, rows, comb(len(movable), k))
