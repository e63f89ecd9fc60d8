"""Keep nothing but some word classes: can a model predict from nouns and verbs alone?

NLI Data Sanity Check (Talman et al., 2021).
"""

from __future__ import annotations

from numpy.random import Generator

from disorder.registry import transformation
from disorder.transformations.positions.orders import keep_only
from disorder.transformations.tags import classes_named, is_of
from disorder.types import Fidelity, PositionRows, Sentence


@transformation(
    keeps="some word classes and their order",
    destroys="all other words",
    paper="NDSC",
    side="both",
    deterministic=True,
    words={"paper": "nltk", "released": "nltk"},
    needs=("tags",),
    shows=("tags",),
)
def keep_pos(
    sentence: Sentence,
    rng: Generator,
    count: int,
    *,
    tags: str = "NOUN+VERB",
    fidelity: Fidelity = "paper",
) -> PositionRows:
    """Keep only the words of these classes, e.g. tags=NOUN+VERB."""
    assert sentence.tags is not None
    return keep_only(sentence, is_of(sentence.tags, classes_named(tags)), fidelity)
