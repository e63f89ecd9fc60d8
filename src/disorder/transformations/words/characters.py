"""Characters as a reader counts them: the unit of `unit=char`.

A character is a grapheme cluster, so that an accent stays on its letter, and an emoji or an Indic
syllable stays whole. White space is a unit too and stays where punctuation stays.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from disorder.languages import segments
from disorder.registry import words
from disorder.transformations.words import sentence_of
from disorder.transformations.words.icu import icu
from disorder.types import Ints, Sentence


@words(language="any")
def characters(text: str) -> Sentence:
    """Every character (grapheme cluster), spaces included; each knows which word it stands in.

    >>> characters("né a").words
    ['n', 'é', ' ', 'a']
    """
    bounds = segments(text, "character")
    sentence = sentence_of(text, list(pairwise(bounds)))
    is_space = np.array([unit.isspace() for unit in sentence.words], dtype=bool)
    return replace(
        sentence,
        is_punctuation=sentence.is_punctuation | is_space,
        is_spaced=np.zeros(len(sentence), dtype=bool),
        groups=_words_around(icu(text), sentence.starts),
    )


def _words_around(cut: Sentence, places: Ints) -> Ints:
    """The number of the word that each place stands in; −1 for none, or for a mark."""
    if not len(cut):
        return np.full(len(places), -1, dtype=np.int64)
    found = np.maximum(np.searchsorted(cut.starts, places, side="right") - 1, 0)
    is_inside = (places >= cut.starts[found]) & (places < cut.ends[found])
    return np.where(is_inside & ~cut.is_punctuation[found], found, -1)
