"""English word classes by a tagger that is installed: NLTK's, that of NLI Data Sanity Check (Talman
et al., 2021), or a spaCy pipeline. `english` tries NLTK first,
`at_hand` spaCy.
"""

from __future__ import annotations

from collections.abc import Sequence

from disorder.errors import BadSetting, MissingData, MissingPackage
from disorder.registry import TaggerPart, part, tagger
from disorder.specs import split_spec
from disorder.transformations.tags import nltk, spacy
from disorder.transformations.tags.word_classes import Tags
from disorder.types import Sentence


@tagger(language="en", needs="nltk and its data, or spacy and a model")
def english(sentences: Sequence[Sentence], *, model: str = "") -> list[Tags]:
    """The default: NLTK's tagger where its data is installed, else the English spaCy pipeline."""
    return _tagged_by("english", sentences, model)


@tagger(language="en", needs="spacy and a model, or nltk and its data")
def at_hand(sentences: Sequence[Sentence], *, model: str = "") -> list[Tags]:
    """The English spaCy pipeline where one is installed, else NLTK's tagger."""
    return _tagged_by("at_hand", sentences, model)


def _tagged_by(name: str, sentences: Sequence[Sentence], model: str) -> list[Tags]:
    if model:
        raise BadSetting("tagger", tagger=f"{name}:{model}", need=f"{name} alone, or spacy:NAME")
    chosen, pipeline = split_spec(installed_tagger(name))
    found: list[Tags] = part(TaggerPart, chosen).function(sentences, model=pipeline)
    return found


def installed_tagger(name: str) -> str:
    """What `english` or `at_hand` stands for on this machine: `nltk` or `spacy:PIPELINE`."""
    for find in TRIED[name]:
        found = find()
        if found:
            return found
    raise MissingData(f"word classes need a tagger: {spacy.how_to_install()}")


def _nltk() -> str:
    return "nltk" if nltk.has_data() else ""


def _spacy() -> str:
    try:
        return f"spacy:{spacy.installed_pipeline()}"
    except (MissingPackage, MissingData):
        return ""


TRIED = {"english": (_nltk, _spacy), "at_hand": (_spacy, _nltk)}  # in this order
