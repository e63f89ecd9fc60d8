"""Let nouns trade places with nouns and verbs with verbs: who does what to whom is lost.

A rung of the ladder: the sequence of word classes is kept, so what a model loses here it had read
from more than syntax.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from disorder.registry import transformation
from disorder.transformations.positions.orders_within_groups import shuffled_within
from disorder.transformations.tags import classes_named, is_of
from disorder.types import PositionRows, Sentence


@transformation(
    keeps="words, the sequence of word classes",
    keeps_words=True,
    destroys="which word of a class stands where",
    side="task",
    draws=10,
    suites=("ladder",),
    needs=("tags",),
    tagger={"en": "at_hand"},
)
def trade_classes(
    sentence: Sentence, rng: Generator, count: int, *, tags: str = "all"
) -> PositionRows:
    """Shuffle the words of each word class over the places of that class, all classes or e.g.
    tags=NOUN+VERB.
    """
    assert sentence.tags is not None
    moves = ~sentence.is_punctuation
    if tags != "all":
        moves = moves & is_of(sentence.tags, classes_named(tags))
    groups = -1 - np.arange(len(sentence))
    groups[moves] = np.unique(sentence.tags[moves], return_inverse=True)[1]
    return shuffled_within(sentence, groups, count, rng)
