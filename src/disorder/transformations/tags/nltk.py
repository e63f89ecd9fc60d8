"""Word classes by NLTK's averaged perceptron, the tagger of NLI Data Sanity Check (Talman et al.,
2021).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from disorder.errors import BadSetting, MissingData, MissingPackage
from disorder.registry import tagger
from disorder.transformations.tags.word_classes import Tags, tokens_at
from disorder.transformations.words import split
from disorder.transformations.words.nltk_sentences import tokens_of
from disorder.types import Sentence

DATA = ("averaged_perceptron_tagger_eng", "universal_tagset")
SENTENCES = "sentences"  # the tokens are those of word_tokenize
DOWNLOAD = f"python -m nltk.downloader {' '.join(DATA)}"
FINER = {
    "NNP": "PROPN",
    "NNPS": "PROPN",
    "MD": "AUX",
    "CC": "CCONJ",
    "RP": "PART",
    "TO": "PART",
    "POS": "PART",
    "UH": "INTJ",
}
NEWER = {"CONJ": "CCONJ", "PRT": "PART", ".": "PUNCT"}


@tagger(language="en", needs="nltk and its data")
def nltk(sentences: Sequence[Sentence], *, model: str = "") -> list[Tags]:
    """NLTK's perceptron tagger, trained on the Penn Treebank, mapped to universal classes."""
    if model not in ("", SENTENCES):
        need = "nltk, or nltk:sentences (tokens found sentence by sentence)"
        raise BadSetting("tagger", tagger=f"nltk:{model}", need=need)
    tag, classes = _tagger()
    return [_tags(sentence, tag, classes, by_sentence=bool(model)) for sentence in sentences]


def has_data() -> bool:
    """Whether NLTK and the data of its tagger are installed."""
    try:
        from nltk.data import find

        for name in DATA:
            find(f"taggers/{name}")
    except (ImportError, LookupError):
        return False
    return True


def _tags(sentence: Sentence, tag: Any, classes: dict[str, str], *, by_sentence: bool) -> Tags:
    """Classes of NLTK's own tokens; a word split otherwise (don't) has that of the token it begins
    in.

    With `by_sentence` the tokens are those of word_tokenize, in all that the tagger sees.
    """
    tokens = split(sentence.text, words="nltk_sentences" if by_sentence else "nltk")
    seen = tokens_of(sentence.text) if by_sentence else tokens.words
    names = np.array([classes[found] for _, found in tag(seen)] or ["X"], dtype="U5")
    return Tags(names[tokens_at(tokens.starts, sentence.starts)])


@lru_cache(maxsize=1)
def _tagger() -> tuple[Any, dict[str, str]]:
    """The tagger, and the class of each Penn Treebank tag: the universal one, or a finer one."""
    try:
        from nltk.tag import PerceptronTagger
        from nltk.tag.mapping import tagset_mapping
    except ImportError as error:
        raise MissingPackage("tagger=nltk", "nltk", "nlp") from error
    try:
        mapped = tagset_mapping("en-ptb", "universal")
        trained = PerceptronTagger()
    except LookupError:
        raise MissingData(f"tagger=nltk needs NLTK's data: {DOWNLOAD} (or set NLTK_DATA)") from None
    classes: dict[str, str] = _Classes(
        {tag: FINER.get(tag, NEWER.get(name, name)) for tag, name in mapped.items()}
    )
    return trained.tag, classes


class _Classes(dict[str, str]):
    """Classes by tag; a tag that is not in the mapping is X."""

    def __missing__(self, tag: str) -> str:
        return "X"
