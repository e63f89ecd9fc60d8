"""Repeat the words that matter most in the places of the others: does a model notice?

BERT & Family Eat Word Salad (Gupta et al., 2021), Repeat. Importance and its sign: see
`positions/important_words.py`.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from disorder.registry import transformation
from disorder.transformations.positions.important_words import RankedBy, is_kept
from disorder.types import Fidelity, PositionRows, Sentence


@transformation(
    keeps="the words that matter most, their places",
    destroys="the other words, grammar",
    paper="WS",
    draws=10,
    suites=("salad", "full"),
    words={"released": "pieces"},
    needs=("importance",),
)
def repeat_most(
    sentence: Sentence,
    rng: Generator,
    count: int,
    *,
    share: float = 0.5,
    by: RankedBy = "loss",
    fidelity: Fidelity = "paper",
) -> PositionRows:
    """Replace the share of words that the model's loss hangs on least, each by a random one of the
    others.
    """
    kept = is_kept("repeat_most", sentence, share, by, fidelity)
    positions = np.tile(np.arange(len(sentence)), (count, 1))
    positions[:, ~kept] = rng.choice(np.flatnonzero(kept), size=(count, int((~kept).sum())))
    # Draws are independent, as in the paper: a short text may repeat one
    return PositionRows(sentence, positions)
