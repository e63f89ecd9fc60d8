"""English word classes by the tagger that is installed: NLTK's where its data is there, as in NLI
Data Sanity Check (Talman et al., 2021), else a spaCy pipeline, which pip alone can install.
"""

from __future__ import annotations

from collections.abc import Sequence

from disorder.errors import BadSetting, MissingData, MissingPackage
from disorder.registry import TaggerPart, part, tagger
from disorder.specs import split_spec
from disorder.transformations.tags import nltk, spacy
from disorder.transformations.tags.word_classes import Tags
from disorder.types import Sentence

INSTALL = 'word classes need a tagger: pip install "disorder[nlp]"'


@tagger(language="en", needs="nltk and its data, or spacy and a model")
def english(sentences: Sequence[Sentence], *, model: str = "") -> list[Tags]:
    """The default: NLTK's tagger where its data is installed, else the English spaCy pipeline."""
    if model:
        raise BadSetting("tagger", tagger=f"english:{model}", need="english alone, or spacy:NAME")
    name, pipeline = split_spec(installed_tagger())
    found: list[Tags] = part(TaggerPart, name).function(sentences, model=pipeline)
    return found


def installed_tagger() -> str:
    """`nltk`, or `spacy:PIPELINE` where NLTK's data is missing."""
    if nltk.has_data():
        return "nltk"
    try:
        return f"spacy:{spacy.installed_pipeline()}"
    except (MissingPackage, MissingData):
        raise MissingData(INSTALL) from None
