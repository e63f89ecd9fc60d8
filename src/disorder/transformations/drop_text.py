"""Drop one text of a pair: does the other one give the label away (the hypothesis-only baseline)?

NLI Data Sanity Check (Talman et al., 2021).
"""

from __future__ import annotations

from numpy.random import Generator

from disorder.errors import DoesNotApply
from disorder.registry import transformation
from disorder.transformations.positions.orders import emptied, unchanged
from disorder.types import Pair, Variants


@transformation(
    keeps="one text", destroys="the other", paper="NDSC", scope="pair", side="a", deterministic=True
)
def drop_text(pair: Pair, rng: Generator, count: int, *, side: str = "a") -> Variants:
    """Empty one text of a pair and keep the other; side=a leaves the hypothesis alone."""
    if pair.b is None:
        raise DoesNotApply("there is no second text")
    if side == "a":
        return Variants(emptied(pair.a), unchanged(pair.b))
    return Variants(unchanged(pair.a), emptied(pair.b))
