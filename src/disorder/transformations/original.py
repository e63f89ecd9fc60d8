"""The text itself, for sets that mix whole and perturbed texts. Talman et al. (2021) call one such set
ALLDROP.
"""

from __future__ import annotations

from numpy.random import Generator

from disorder.registry import transformation
from disorder.transformations.positions.plain_rows import untouched
from disorder.types import PositionRows, Sentence


@transformation(
    keeps="everything", destroys="nothing", paper="NDSC", side="both", deterministic=True
)
def original(sentence: Sentence, rng: Generator, count: int) -> PositionRows:
    """Leave the text as it is."""
    return untouched(sentence)
