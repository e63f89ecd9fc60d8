"""Chinese word classes by the jieba segmenter and tagger."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from disorder.errors import BadSetting, MissingPackage
from disorder.registry import tagger
from disorder.transformations.tags.word_classes import Tags
from disorder.types import Sentence

# by the first letter of a flag, unless the whole flag says more
LETTERS = {
    "a": "ADJ",
    "b": "ADJ",
    "c": "CCONJ",
    "d": "ADV",
    "e": "INTJ",
    "f": "NOUN",
    "g": "NOUN",
    "h": "PART",
    "i": "NOUN",
    "j": "NOUN",
    "k": "PART",
    "l": "NOUN",
    "m": "NUM",
    "n": "NOUN",
    "o": "X",
    "p": "ADP",
    "q": "NOUN",
    "r": "PRON",
    "s": "NOUN",
    "t": "NOUN",
    "u": "PART",
    "v": "VERB",
    "w": "PUNCT",
    "x": "X",
    "y": "PART",
    "z": "ADJ",
}
FLAGS = {
    "nr": "PROPN",
    "nrt": "PROPN",
    "nrfg": "PROPN",
    "ns": "PROPN",
    "nt": "PROPN",
    "nz": "PROPN",
    "ad": "ADV",
    "an": "NOUN",
    "vn": "NOUN",
    "vd": "ADV",
    "eng": "X",
    "rz": "DET",
}


@tagger(language="zh", needs="rjieba")
def jieba(sentences: Sequence[Sentence], *, model: str = "") -> list[Tags]:
    """The jieba tagger (through rjieba); a character that is not a word has the class of the word
    it is in.
    """
    if model:
        raise BadSetting("tagger", tagger=f"jieba:{model}", need="jieba alone: it has one model")
    try:
        from rjieba import tag
    except ImportError as error:
        raise MissingPackage("tagger=jieba", "rjieba", "nlp") from error
    return [_tags(sentence, tag) for sentence in sentences]


def _tags(sentence: Sentence, tag: object) -> Tags:
    text = sentence.text.encode("utf-8", "replace").decode("utf-8")
    assert callable(tag)
    found = tag(text)
    names = np.array([_class_of(flag) for _, flag in found] or ["X"], dtype="U5")
    per_letter = np.repeat(names[: len(found)], [len(word) for word, _ in found])
    classes = per_letter[sentence.starts] if len(sentence) else names[:0]
    return Tags(np.where(sentence.is_punctuation, "PUNCT", classes).astype("U5"))


def _class_of(flag: str) -> str:
    return FLAGS.get(flag) or LETTERS.get(flag[:1], "X")
