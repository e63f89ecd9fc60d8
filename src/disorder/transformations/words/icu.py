"""Words in every language, as Unicode defines them: the default splitter.

ICU's word boundaries (UAX 29), which need no spaces for Chinese, Japanese, Thai, Lao, Khmer and
Burmese, with three additions so that words are cut as people count them: inner hyphens and
apostrophes hold (well-known, 1990's), and so do the last dot of an abbreviation (U.S.) and a clitic
set apart (it 's).
"""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

from disorder.languages import is_one_of_unspaced, segments
from disorder.registry import words
from disorder.transformations.words import sentence_of
from disorder.types import Sentence

INNER = re.compile(r"[-‐'’](?=\w)")
# the last dot, and the apostrophe, belong to the word
ABBREVIATION = re.compile(r"(?<![\w.])(?:[^\W\d_]\.){2,}(?!\w)")
CLITIC = re.compile(r"['’](?:s|re|ve|ll|d|m|t)\b", re.IGNORECASE)


@words(language="any")
def icu(text: str) -> Sentence:
    """Words by Unicode's rules in every language, those written without spaces included.

    >>> icu("Don't panic: the U.S. has 3.5 well-known dogs.").words
    ["Don't", 'panic', ':', 'the', 'U.S.', 'has', '3.5', 'well-known', 'dogs', '.']
    """
    bounds = segments(text, "word")
    inside = _inside(text)
    if inside:
        bounds = [place for place in bounds if place not in inside]
    spans = [
        (i, j)
        for i, j in pairwise(bounds)
        if not text[i].isspace() or not text[i:j].isspace()  # a mark may follow a space
    ]
    return sentence_of(text, spans)


def _inside(text: str) -> set[int]:
    """Places where no word ends, though Unicode's rules say so."""
    places: set[int] = set()
    for found in INNER.finditer(text):
        at = found.start()
        before = text[at - 1 : at]
        if before and _is_letter(before) and _is_letter(text[at + 1]):
            places |= {at, at + 1}
        elif (not before or before.isspace()) and (clitic := CLITIC.match(text, at)):
            places.update(range(at + 1, clitic.end()))
    if text.count(".") > 1:
        for found in ABBREVIATION.finditer(text):
            places.update(range(found.start() + 1, found.end()))
    return places


def _is_letter(char: str) -> bool:
    """Whether a hyphen or an apostrophe beside it can be inside a word."""
    is_mark = unicodedata.category(char).startswith("M")
    return (char.isalnum() or is_mark) and not is_one_of_unspaced(char)
