"""Swap two words, the slightest change of order: the fake sentences of a synthetic task.

Out of Order (Pham et al., 2021), which trains on telling real sentences from these; its released
code moves a word instead (`move_word`).
"""

from __future__ import annotations

from numpy.random import Generator

from disorder.registry import transformation
from disorder.transformations.positions.orders import traded
from disorder.types import PositionRows, Sentence


@transformation(
    keeps="words, all but two in place",
    keeps_words=True,
    destroys="the place of two words",
    paper="OOO",
    side="task",
    draws=1,
    words={"paper": "spaces"},
)
def swap_words(sentence: Sentence, rng: Generator, count: int) -> PositionRows:
    """Let two random words that differ trade places; punctuation stays."""
    return traded(sentence, sentence.movable, count, rng)
