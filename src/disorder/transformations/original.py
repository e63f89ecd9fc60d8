"""The original text, for suites that mix it with perturbed ones.

Talman et al. (2021) call one such set ALLDROP.
"""

from __future__ import annotations

from numpy.random import Generator

from disorder.registry import transformation
from disorder.transformations.positions.orders import unchanged
from disorder.types import PositionRows, Sentence


@transformation(
    keeps="everything", destroys="nothing", paper="NDSC", side="both", deterministic=True
)
def original(sentence: Sentence, rng: Generator, count: int) -> PositionRows:
    """Leave the text as it is."""
    return unchanged(sentence)
