"""Swap two nouns: the sentence stays grammatical and says something else. Does a model notice?

Out of Order (Pham et al., 2021): two proper nouns if there are two, else two nouns, else the heads
of two noun phrases. Its released code leaves sentences without such a pair as they are, and counts
them among the perturbed ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np
from numpy.random import Generator

from disorder.errors import DoesNotApply
from disorder.registry import transformation
from disorder.transformations.positions.orders import n_pairs, traded
from disorder.transformations.tags import is_of
from disorder.types import Bools, Fidelity, PositionRows, Sentence

NO_PAIR = "fewer than two different nouns to swap"
PROPER = frozenset({"PROPN"})
ANY = frozenset({"NOUN", "PROPN"})


@transformation(
    keeps="words, the syntax",
    keeps_words=True,
    destroys="the place of two nouns",
    paper="OOO",
    side="task",
    draws=1,
    suites=("full",),
    words={"paper": "spacy", "released": "spacy"},
    needs=("tags",),
    tagger={"en": "spacy"},
)
def swap_nouns(
    sentence: Sentence,
    rng: Generator,
    count: int,
    *,
    unable: Literal["skip", "keep"] = "skip",
    fidelity: Fidelity = "paper",
) -> PositionRows:
    """Let two random nouns that differ trade places; texts without such a pair are skipped or kept
    as they are.

    Proper nouns come first, then any nouns, then heads of noun phrases. unable=keep (implied by
    fidelity=released) leaves a text that has no pair unchanged.
    """
    for candidates in _candidates(sentence):
        places = np.flatnonzero(candidates & ~sentence.is_punctuation)
        if n_pairs(sentence.kinds[places]):
            return traded(sentence, places, count, rng)
    if unable == "skip" and fidelity != "released":
        raise DoesNotApply(NO_PAIR)
    return PositionRows(sentence, np.tile(np.arange(len(sentence)), (count, 1)))


def _candidates(sentence: Sentence) -> Iterator[Bools]:
    """Which words may be swapped, from the best choice to the last resort."""
    assert sentence.tags is not None
    yield is_of(sentence.tags, PROPER)
    yield is_of(sentence.tags, ANY)
    if sentence.is_head is not None:
        yield sentence.is_head
