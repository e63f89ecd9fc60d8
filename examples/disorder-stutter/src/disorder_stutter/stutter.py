"""A transformation: some words are said twice."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from disorder.errors import BadSetting
from disorder.registry import transformation
from disorder.types import PositionRows, Sentence


@transformation(keeps="order", destroys="fluency", draws=10)
def stutter(sentence: Sentence, rng: Generator, count: int, *, share: float = 0.3) -> PositionRows:
    """Repeat a random `share` of the words where they stand; punctuation is never repeated."""
    if not 0 < share <= 1:
        raise BadSetting("stutter", share=share, need="a share above 0, at most 1")
    everywhere = np.arange(len(sentence))
    n_twice = max(1, round(share * len(sentence.movable)))
    n_rows = count if len(sentence.movable) else 0
    rows = np.empty((n_rows, len(sentence) + n_twice), dtype=np.int64)
    for row in rows:
        twice = rng.permutation(sentence.movable)[:n_twice]
        row[:] = np.sort(np.concatenate([everywhere, twice]))
    return PositionRows(sentence, rows)
