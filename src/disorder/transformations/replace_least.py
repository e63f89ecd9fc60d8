"""Put random words where the words stood that matter least: does the model notice that half a text
is noise?

BERT & Family Eat Word Salad (Gupta et al., 2021), Replace. What importance is, and which way its
sign goes: `_least.py`.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from disorder.errors import DisorderError
from disorder.registry import transformation
from disorder.transformations.positions.importance_rank import By, is_kept, rewritten
from disorder.types import Context, Fidelity, PositionRows, Sentence


@transformation(
    keeps="the words that matter most, their places",
    destroys="the other words, grammar",
    paper="WS",
    draws=10,
    suites=("salad", "full"),
    words={"released": "pieces"},
    needs=("importance", "vocabulary"),
)
def replace_least(
    sentence: Sentence,
    rng: Generator,
    count: int,
    context: Context,
    *,
    share: float = 0.5,
    by: By = "loss",
    fidelity: Fidelity = "paper",
) -> PositionRows:
    """Replace the share of words that the model's loss hangs on least by random words of its
    vocabulary, else of the data.
    """
    gone = np.flatnonzero(~is_kept("replace_least", sentence, share, by, fidelity)).tolist()
    vocabulary = context.vocabulary()
    if not len(vocabulary):
        raise DisorderError(
            "replace_least: neither the model nor the data has words of letters to draw from"
        )
    texts = []
    for drawn in rng.integers(len(vocabulary), size=(count, len(gone))).tolist():
        words = list(sentence.words)
        for place, number in zip(gone, drawn, strict=True):
            words[place] = vocabulary[number]
        texts.append(rewritten(sentence, words))
    return PositionRows.of_texts(sentence, texts)
