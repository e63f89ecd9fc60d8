"""Sort the words alphabetically: all the words, none of the sentence.

BERT & Family Eat Word Salad (Gupta et al., 2021), Sort.
"""

from __future__ import annotations

from numpy.random import Generator

from disorder.registry import transformation
from disorder.transformations.positions.orders import alphabetical
from disorder.types import Fidelity, PositionRows, Sentence


@transformation(
    keeps="words",
    keeps_words=True,
    destroys="order",
    paper="WS",
    deterministic=True,
    suites=("order", "salad", "full"),
    words={"released": "nltk"},
)
def sort(
    sentence: Sentence, rng: Generator, count: int, *, fidelity: Fidelity = "paper"
) -> PositionRows:
    """Sort the words alphabetically, ignoring case; the final punctuation stays (released: only a
    full stop does).
    """
    return alphabetical(sentence, fidelity)
