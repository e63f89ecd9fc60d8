"""Shuffle the options of a question: does the answer follow the content or the place?"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from disorder.errors import DoesNotApply
from disorder.registry import transformation
from disorder.types import Bools, PositionRows, Sentence

# options that speak of the others keep their place
ABOUT_OTHERS = re.compile(r"\b(?:none|all|both|neither) of (?:the )?(?:above|these|them)\b", re.I)


def may_move(options: Sequence[str]) -> Bools:
    """Which options do not speak of the others."""
    return np.array([not ABOUT_OTHERS.search(text) for text in options], dtype=bool)


@transformation(
    keeps="the question and its options",
    destroys="the order of the options",
    side="a",
    perturbs="options",
)
def shuffle_options(sentence: Sentence, rng: Generator, count: int) -> PositionRows:
    """Put the options into an order drawn for each variant independently (--on options); "none
    of the above" keeps its place.
    """
    n = len(sentence)
    if n < 2:
        raise DoesNotApply("it has no options of its own")
    places = np.flatnonzero(may_move(sentence.words))
    positions = np.tile(np.arange(n), (count, 1))
    positions[:, places] = rng.permuted(np.tile(places, (count, 1)), axis=1)
    return PositionRows(sentence, positions)
