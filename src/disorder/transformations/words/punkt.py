"""Sentences of a passage, as NLTK's Punkt finds them: `unit=sentence,sentences=punkt`.

Punkt was trained on newspapers of each of its languages and knows their abbreviations (Kiss and
Strunk, 2006). It is used where it is asked for only, so that no result depends on what is
installed.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from disorder.errors import MissingData, MissingPackage
from disorder.registry import words
from disorder.transformations.words import units_of
from disorder.types import Sentence

LANGUAGES = {
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "et": "estonian",
    "fi": "finnish",
    "fr": "french",
    "it": "italian",
    "ml": "malayalam",
    "nl": "dutch",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ru": "russian",
    "sl": "slovene",
    "sv": "swedish",
    "tr": "turkish",
}


@words(language="that of the data", needs="nltk and its data")
def punkt(text: str, language: str = "en") -> Sentence:
    """The sentences of a passage by NLTK's Punkt, in 19 languages (sentences=punkt)."""
    spans = [span for span in sentence_splitter(language).span_tokenize(text) if span[1] > span[0]]
    return units_of(text, spans, is_spaced=np.ones(len(spans), dtype=bool))


@lru_cache(maxsize=len(LANGUAGES))
def sentence_splitter(language: str, asked_by: str = "sentences=punkt") -> Any:
    """Punkt of a language."""
    try:
        from nltk.tokenize.punkt import PunktTokenizer
    except ImportError as error:
        raise MissingPackage(asked_by, "nltk", "nlp") from error
    name = LANGUAGES[language]
    try:
        return PunktTokenizer(name)
    except LookupError:
        raise MissingData(
            f"{asked_by} needs NLTK's data ({name}): python -m nltk.downloader punkt_tab "
            "(or set NLTK_DATA)"
        ) from None
