"""Drop the half of the words that matters least to the model: does it notice what is missing?

BERT & Family Eat Word Salad (Gupta et al., 2021), Drop. Importance and its sign: see
`positions/important_words.py`.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from disorder.registry import transformation
from disorder.transformations.positions.important_words import RankedBy, is_kept
from disorder.types import Fidelity, PositionRows, Sentence


@transformation(
    keeps="the words that matter most, their order",
    destroys="grammar",
    paper="WS",
    deterministic=True,
    suites=("salad", "full"),
    words={"released": "pieces"},
    needs=("importance",),
)
def drop_least(
    sentence: Sentence,
    rng: Generator,
    count: int,
    *,
    share: float = 0.5,
    by: RankedBy = "loss",
    fidelity: Fidelity = "paper",
) -> PositionRows:
    """Remove the share of words that the model's loss hangs on least (released: tokens, unless an
    equal one stays).
    """
    kept = is_kept("drop_least", sentence, share, by, fidelity)
    return PositionRows(sentence, np.flatnonzero(kept)[None, :], is_shared=True)
