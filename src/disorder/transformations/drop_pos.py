"""Drop every word of a class: does a model need its nouns, its verbs, its negation?

NLI Data Sanity Check (Talman et al., 2021), which drops eight classes one by one, and nouns with
pronouns.
"""

from __future__ import annotations

from numpy.random import Generator

from disorder.registry import transformation
from disorder.transformations.positions.orders import keep_only
from disorder.transformations.tags import classes_named, is_of
from disorder.types import Fidelity, PositionRows, Sentence


@transformation(
    keeps="the other words and their order",
    destroys="a word class",
    paper="NDSC",
    side="both",
    deterministic=True,
    words={"paper": "nltk", "released": "nltk"},
    needs=("tags",),
    shows=("tags",),
)
def drop_pos(
    sentence: Sentence,
    rng: Generator,
    count: int,
    *,
    tags: str = "NOUN",
    fidelity: Fidelity = "paper",
) -> PositionRows:
    """Remove the words of these classes, e.g. tags=NOUN or tags=NOUN+PRON."""
    assert sentence.tags is not None
    return keep_only(sentence, ~is_of(sentence.tags, classes_named(tags)), fidelity)
