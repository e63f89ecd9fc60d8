"""Boundaries of characters, words and sentences as Unicode defines them (UAX 29), by ICU.

ICU has dictionaries for the scripts without spaces: Chinese, Japanese, Thai, Lao, Khmer, Burmese.
"""

from __future__ import annotations

import re
from itertools import accumulate, pairwise
from typing import Literal

BoundaryKind = Literal["character", "word", "sentence"]
SURROGATE = re.compile("[\ud800-\udfff]")


def without_surrogates(text: str) -> str:
    """The text with halves of surrogate pairs replaced, letter for letter; for tokenizers that take
    valid Unicode only.
    """
    return SURROGATE.sub("\ufffd", text)


def segments(text: str, kind: BoundaryKind, language: str = "") -> list[int]:
    """Where the characters, words or sentences of a text begin and end: all boundaries, 0 and its
    length included.

    A character is what a reader calls one, a grapheme cluster: an accented letter, an emoji with
    its modifiers, an Indic syllable.

    >>> segments("e\u0301 \U0001f469\u200d\U0001f467", "character")
    [0, 2, 3, 6]
    """
    from icu4py import breakers

    if not text:
        return [0]
    make = {
        "character": breakers.CharacterBreaker,
        "word": breakers.WordBreaker,
        "sentence": breakers.SentenceBreaker,
    }[kind]
    found = [end for _, end in make(without_surrogates(text), language or "en").segments()]
    if max(text) > "\uffff":
        found = _in_characters(text, found)
    return [0, *found]


def n_words(text: str) -> int:
    """How many words a text has by Unicode's rules; marks and spaces are none.

    >>> n_words("我喜欢吃苹果。"), n_words("It's 3.5 dogs!")
    (4, 3)
    """
    bounds = segments(text, "word")
    return sum(any(map(str.isalnum, text[i:j])) for i, j in pairwise(bounds))


def _in_characters(text: str, ends: list[int]) -> list[int]:
    """ICU counts UTF-16 units, of which a character beyond the first plane has two."""
    units = accumulate(1 + (char > "\uffff") for char in text)
    place = {unit: i for i, unit in enumerate(units, start=1)}
    return [place[end] for end in ends]
