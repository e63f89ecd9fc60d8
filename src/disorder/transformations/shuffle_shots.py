"""Shuffle the examples of a prompt: does a language model depend on their order?"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from disorder.registry import transformation
from disorder.transformations.positions.orders_within_groups import check_shots, reordered
from disorder.types import PositionRows, Sentence


@transformation(
    keeps="the examples of a prompt", destroys="their order", side="a", perturbs="shots"
)
def shuffle_shots(sentence: Sentence, rng: Generator, count: int) -> PositionRows:
    """Put the examples of a prompt, each with its answer, into another order (--on shots)."""
    check_shots(sentence)
    orders, available = reordered(list(range(len(sentence) // 2)), count, rng)
    firsts = 2 * np.array(orders, dtype=np.int64).reshape(len(orders), -1)
    positions = np.stack([firsts, firsts + 1], axis=2).reshape(len(orders), -1)
    return PositionRows(sentence, positions, available)
