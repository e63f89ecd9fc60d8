"""Reverse the words: every distance is kept, every direction turned.

BERT & Family Eat Word Salad (Gupta et al., 2021), Reverse.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from disorder.registry import transformation
from disorder.transformations.positions.orders import ending, reorder
from disorder.types import Fidelity, PositionRows, Sentence


@transformation(
    keeps="words, distances",
    keeps_words=True,
    destroys="direction",
    paper="WS",
    deterministic=True,
    suites=("order", "salad", "full"),
    words={"released": "nltk"},
)
def reverse(
    sentence: Sentence, rng: Generator, count: int, *, fidelity: Fidelity = "paper"
) -> PositionRows:
    """Reverse the words; the final punctuation stays (released: only a full stop does)."""
    n = len(sentence) - len(ending(sentence, fidelity))
    return reorder(sentence, np.arange(n)[None, ::-1], fidelity, is_shared=True)
