"""English word classes by whichever tagger is installed: a spaCy pipeline, else NLTK's."""

from __future__ import annotations

from collections.abc import Sequence

from disorder.errors import BadSetting, MissingData, MissingPackage, install_command
from disorder.registry import TaggerPart, part, tagger
from disorder.specs import split_spec
from disorder.transformations.tags import nltk, spacy
from disorder.transformations.tags.word_classes import Tags
from disorder.types import Sentence


@tagger(language="en", needs="spacy and a model, or nltk and its data")
def at_hand(sentences: Sequence[Sentence], *, model: str = "") -> list[Tags]:
    """The English spaCy pipeline where one is installed, else NLTK's tagger."""
    if model:
        raise BadSetting("tagger", tagger=f"at_hand:{model}", need="at_hand alone, or spacy:NAME")
    name, pipeline = split_spec(tagger_at_hand())
    found: list[Tags] = part(TaggerPart, name).function(sentences, model=pipeline)
    return found


def tagger_at_hand() -> str:
    """`spacy:PIPELINE`, or `nltk` where no pipeline is installed."""
    try:
        return f"spacy:{spacy.installed_pipeline()}"
    except (MissingPackage, MissingData):
        if nltk.has_data():
            return "nltk"
        raise MissingData(f"word classes need a tagger: {install_command('nlp')}") from None
