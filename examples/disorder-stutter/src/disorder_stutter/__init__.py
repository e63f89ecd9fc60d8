"""Say some words twice, to ask whether a model minds. A whole plugin: one decorated function, one
entry point.
"""

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
    n = len(sentence.movable)
    n_twice = max(1, round(share * n)) if n else 0
    rows = [
        np.sort(
            np.concatenate([np.arange(len(sentence)), rng.permutation(sentence.movable)[:n_twice]])
        )
        for _ in range(count if n else 0)
    ]
    return PositionRows(
        sentence, np.array(rows, dtype=np.int64).reshape(len(rows), len(sentence) + n_twice)
    )
