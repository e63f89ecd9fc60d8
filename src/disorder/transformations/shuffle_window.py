"""Shuffle only words that stand close together: how fine is a model's reading of order?

A rung of the ladder between a full shuffle and the text: global order is kept, local order is
lost.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from disorder.errors import BadSetting
from disorder.registry import transformation
from disorder.transformations.positions.orders_within_groups import shuffled_within
from disorder.types import PositionRows, Sentence


@transformation(
    keeps="words, each within its window",
    keeps_words=True,
    destroys="local order",
    side="task",
    draws=10,
    suites=("ladder",),
    sweep=("window=2", "window=3", "window=5"),
)
def shuffle_window(
    sentence: Sentence, rng: Generator, count: int, *, window: int = 3
) -> PositionRows:
    """Shuffle each `window` words in a row among themselves; punctuation stays.

    Windows lie side by side from the first word on, so no word passes more than window − 1 others.
    """
    if window < 2:
        raise BadSetting("shuffle_window", window=window, need="2 or more")
    groups = -1 - np.arange(len(sentence))
    groups[sentence.movable] = np.arange(len(sentence.movable)) // min(window, len(sentence) + 1)
    return shuffled_within(sentence, groups, count, rng)
