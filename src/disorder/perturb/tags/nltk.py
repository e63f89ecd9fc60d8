"""Word classes by NLTK's averaged perceptron, the tagger of NLI Data Sanity Check (Talman et al., 2021)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from disorder.errors import BadSetting, MissingPackage, MissingResource
from disorder.perturb.tags._classes import Tags
from disorder.registry import tagger
from disorder.types import Sentence

INSTALL = "python -m nltk.downloader averaged_perceptron_tagger_eng universal_tagset (or set NLTK_DATA)"
FINER = {"NNP": "PROPN", "NNPS": "PROPN", "MD": "AUX", "CC": "CCONJ", "RP": "PART", "TO": "PART", "POS": "PART", "UH": "INTJ"}
NEWER = {"CONJ": "CCONJ", "PRT": "PART", ".": "PUNCT"}


@tagger(language="en", needs="nltk and its data")
def nltk(sentences: Sequence[Sentence], *, model: str = "") -> list[Tags]:
    """NLTK's perceptron tagger, trained on the Penn Treebank, mapped to universal classes."""
    if model:
        raise BadSetting("tagger", tagger=f"nltk:{model}", need="nltk alone: it has one model")
    tag, classes = _tagger()
    return [Tags.of([classes[found] for _, found in tag(sentence.words)]) for sentence in sentences]


@lru_cache(maxsize=1)
def _tagger() -> tuple[Any, dict[str, str]]:
    """The tagger, and the class of each Penn Treebank tag: the older universal one, made finer where the tag tells more."""
    try:
        from nltk.tag import PerceptronTagger
        from nltk.tag.mapping import tagset_mapping
    except ImportError as error:
        raise MissingPackage("tagger=nltk", "nltk", "nlp") from error
    try:
        mapped = tagset_mapping("en-ptb", "universal")
        trained = PerceptronTagger()
    except LookupError:
        raise MissingResource(f"tagger=nltk needs NLTK's data: {INSTALL}") from None
    classes: dict[str, str] = _Classes({tag: FINER.get(tag, NEWER.get(name, name)) for tag, name in mapped.items()})

    return trained.tag, classes


class _Classes(dict[str, str]):
    """A tag that the mapping does not know is X."""

    def __missing__(self, tag: str) -> str:
        return "X"
