"""Replace the letters inside words by others: the control for `shuffle_letters`.

As many letters, at the same places of the same words, are replaced by random letters of the same
text, so that what a model keeps under shuffling beyond this it owes to the letters being there.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from disorder.transformations.positions.letters import (
    Kept,
    alphabet,
    changed_words,
    letter_transformation,
)
from disorder.types import PositionRows, Sentence


@letter_transformation(destroys="letters in words", drawn_as="shuffle_letters")
def replace_letters(
    sentence: Sentence, rng: Generator, count: int, *, keep: Kept = "none", share: float = 1.0
) -> PositionRows:
    """Replace the letters inside a `share` of the words, which `shuffle_letters` would shuffle, by
    other letters of the text.
    """
    words = changed_words("replace_letters", sentence, keep, share, count, rng)
    letters = alphabet(sentence, words)
    positions = np.tile(np.arange(len(sentence)), (count, 1))
    drawn = rng.integers(len(letters) - 1, size=words.is_open.shape)
    own = np.searchsorted(letters.kinds, sentence.kinds)
    others = letters.places[drawn + (drawn >= own)]  # from its own on, numbers mean the next one
    positions[words.is_open] = others[words.is_open]
    return PositionRows(sentence, positions)
