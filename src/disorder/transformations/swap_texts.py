"""Swap premise and hypothesis: does a model know which text is which?

NLI Data Sanity Check (Talman et al., 2021): entailment should change, contradiction and neutral
mostly hold.
"""

from __future__ import annotations

from numpy.random import Generator

from disorder.errors import DoesNotApply
from disorder.registry import transformation
from disorder.transformations.positions.orders import unchanged
from disorder.types import Pair, Variants


@transformation(
    keeps="both texts", destroys="their roles", paper="NDSC", scope="pair", deterministic=True
)
def swap_texts(pair: Pair, rng: Generator, count: int) -> Variants:
    """Exchange the two texts."""
    if pair.b is None:
        raise DoesNotApply("there is no second text")
    return Variants(unchanged(pair.b), unchanged(pair.a))
