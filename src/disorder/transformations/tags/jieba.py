"""Chinese word classes by the jieba segmenter and tagger."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from disorder.errors import BadSetting, MissingPackage
from disorder.registry import tagger
from disorder.transformations.tags.word_classes import Tags
from disorder.types import Sentence

# by the first letter of a flag, unless the whole flag says more; X for all others
LETTERS = {
    "ADJ": "abz",
    "CCONJ": "c",
    "ADV": "d",
    "INTJ": "e",
    "NOUN": "fgijlnqst",
    "PART": "hkuy",
    "NUM": "m",
    "ADP": "p",
    "PRON": "r",
    "VERB": "v",
    "PUNCT": "w",
}
FLAGS = {
    "PROPN": ("nr", "nrt", "nrfg", "ns", "nt", "nz"),
    "ADV": ("ad", "vd"),
    "NOUN": ("an", "vn"),
    "DET": ("rz",),
    "X": ("eng",),
}
BY_FLAG = {flag: name for name, flags in FLAGS.items() for flag in flags}
BY_LETTER = {letter: name for name, letters in LETTERS.items() for letter in letters}


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
    classes_of = [BY_FLAG.get(flag) or BY_LETTER.get(flag[:1], "X") for _, flag in found]
    names = np.array(classes_of or ["X"], dtype="U5")
    per_letter = np.repeat(names[: len(found)], [len(word) for word, _ in found])
    classes = per_letter[sentence.starts] if len(sentence) else names[:0]
    return Tags(np.where(sentence.is_punctuation, "PUNCT", classes).astype("U5"))
