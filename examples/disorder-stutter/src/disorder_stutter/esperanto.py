"""A tagger: in Esperanto the ending of a word says its class."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from disorder.errors import BadSetting
from disorder.registry import tagger
from disorder.transformations.tags import Tags
from disorder.types import Sentence

ENDINGS = {
    **dict.fromkeys(("o", "oj", "on", "ojn"), "NOUN"),
    **dict.fromkeys(("a", "aj", "an", "ajn"), "ADJ"),
    **dict.fromkeys(("i", "as", "is", "os", "us", "u"), "VERB"),
    **dict.fromkeys(("e", "en"), "ADV"),
}
OTHERS = {"la": "DET", "kaj": "CCONJ", "mi": "PRON", "vi": "PRON", "li": "PRON", "en": "ADP"}


@tagger(language="eo", needs="nothing else")
def esperanto(sentences: Sequence[Sentence], *, model: str = "") -> list[Tags]:
    """Find word classes by the endings of Esperanto."""
    if model:
        raise BadSetting("tagger", tagger=f"esperanto:{model}", need="esperanto alone")
    return [Tags(np.array(_classes(sentence), dtype="U5")) for sentence in sentences]


def _classes(sentence: Sentence) -> list[str]:
    marks = sentence.is_punctuation
    found = [_class_of(word.lower()) for word in sentence.words]
    return ["PUNCT" if mark else name for mark, name in zip(marks, found, strict=True)]


def _class_of(word: str) -> str:
    if word in OTHERS:
        return OTHERS[word]
    longest = max((end for end in ENDINGS if word.endswith(end)), key=len, default="")
    return ENDINGS.get(longest, "X")
