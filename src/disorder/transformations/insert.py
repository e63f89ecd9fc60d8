"""Insert words: a control with all the order of the text and too many words.

The words inserted are copies of its own, so that no word is new and what is added carries no news.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from disorder.errors import BadSetting, DoesNotApply
from disorder.registry import transformation
from disorder.types import PositionRows, Sentence


@transformation(
    keeps="every word and their order",
    destroys="nothing; adds words",
    side="task",
    draws=10,
)
def insert(sentence: Sentence, rng: Generator, count: int, *, k: int = 1) -> PositionRows:
    """Insert copies of `k` random words at random places before the final punctuation."""
    if k < 1:
        raise BadSetting("insert", k=k, need="1 or more")
    if not len(sentence.movable):
        raise DoesNotApply("it has no words")
    n = len(sentence)
    # a half place before the word that stands there: sorting puts each copy in its gap
    gaps = rng.integers(len(sentence.body) + 1, size=(count, k)) - 0.5
    copies = rng.choice(sentence.movable, size=(count, k))
    places = np.concatenate([np.tile(np.arange(n), (count, 1)), gaps], axis=1)
    words = np.concatenate([np.tile(np.arange(n), (count, 1)), copies], axis=1)
    order = np.argsort(places, axis=1, kind="stable")
    # Draws are independent: a short text may repeat one
    return PositionRows(sentence, np.take_along_axis(words, order, axis=1))
