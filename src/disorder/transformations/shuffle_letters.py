"""Shuffle the letters inside words: does a model read words as wholes, or letter by letter?

Typoglycemia: people read texts whose words keep their first and last letter. Words stay where they
are. A letter is a character as a reader counts it (a grapheme cluster).
"""

from __future__ import annotations

from numpy.random import Generator

from disorder.transformations.positions.letters import (
    Kept,
    changed_words,
    letter_transformation,
    shuffled_letters,
)
from disorder.types import PositionRows, Sentence


@letter_transformation(destroys="the order of letters in words")
def shuffle_letters(
    sentence: Sentence, rng: Generator, count: int, *, keep: Kept = "none", share: float = 1.0
) -> PositionRows:
    """Shuffle the letters inside a `share` of the words, all of them or with the first or the first
    and last kept (keep=none, first or ends).

    A larger share changes the words of a smaller one and more. Draws are independent; every word
    that is changed reads differently.
    """
    words = changed_words("shuffle_letters", sentence, keep, share, count, rng)
    return PositionRows(sentence, shuffled_letters(sentence, words, rng))
