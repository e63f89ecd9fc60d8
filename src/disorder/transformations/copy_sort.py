"""Replace the second text by the first one, sorted: full word overlap and no sentence at all.

BERT & Family Eat Word Salad (Gupta et al., 2021), CopySort. A model that relies on overlap predicts
the default label: entailment or paraphrase.
"""

from __future__ import annotations

from numpy.random import Generator

from disorder.errors import DoesNotApply
from disorder.registry import transformation
from disorder.transformations.positions.orders import alphabetical, unchanged
from disorder.types import Fidelity, Pair, Variants


@transformation(
    keeps="words of the first text",
    destroys="the second text, order",
    paper="WS",
    scope="pair",
    deterministic=True,
    copies=True,
    suites=("salad", "full"),
    words={"released": "nltk"},
)
def copy_sort(pair: Pair, rng: Generator, count: int, *, fidelity: Fidelity = "paper") -> Variants:
    """Replace the second text by the first one's words in alphabetical order."""
    if pair.b is None:
        raise DoesNotApply("there is no second text")
    return Variants(unchanged(pair.a), alphabetical(pair.a, fidelity))
