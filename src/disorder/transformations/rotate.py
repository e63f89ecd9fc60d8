"""Rotate a text: all words but one keep their neighbours, none keeps its place.

A control for local order: what a model loses here it had read from where words stand in the text.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from disorder.registry import transformation
from disorder.transformations.positions.orders import reorder
from disorder.types import Ints, PositionRows, Sentence


@transformation(
    keeps="words, all pairs of neighbours but one",
    keeps_words=True,
    destroys="global order",
    side="task",
    draws=10,
)
def rotate(sentence: Sentence, rng: Generator, count: int) -> PositionRows:
    """Cut the text at a random place and exchange the two parts; the final punctuation stays."""
    n = len(sentence.body)
    period = _period(sentence.kinds[sentence.body])
    steps = 1 + rng.permutation(max(0, period - 1))[:count]
    rows = (np.arange(n) + steps[:, None]) % max(1, n)
    return reorder(sentence, rows, available=max(0, period - 1))


def _period(kinds: Ints) -> int:
    """After how many words a text repeats itself to its end; a rotation by that reads the same."""
    n = len(kinds)
    divisors = (size for size in range(1, n) if n % size == 0)
    return next((size for size in divisors if (kinds[size:] == kinds[:-size]).all()), n)
