"""Empty texts: what does a model predict when there is nothing to read?"""

from __future__ import annotations

from numpy.random import Generator

from disorder.registry import transformation
from disorder.transformations.positions.orders import emptied
from disorder.types import PositionRows, Sentence


@transformation(keeps="nothing", destroys="the text", paper="", side="both", deterministic=True)
def empty(sentence: Sentence, rng: Generator, count: int) -> PositionRows:
    """Remove every word."""
    return emptied(sentence)
