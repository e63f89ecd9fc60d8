"""Replace the words that matter least by random ones: does a model notice that half is noise?

BERT & Family Eat Word Salad (Gupta et al., 2021), Replace. Importance and its sign: see
`positions/important_words.py`.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from disorder.errors import DisorderError
from disorder.registry import transformation
from disorder.transformations.positions.important_words import RankedBy, is_kept
from disorder.transformations.rendering import with_words
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
    by: RankedBy = "loss",
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
        texts.append(with_words(sentence, words))
    return PositionRows.of_texts(sentence, texts)
