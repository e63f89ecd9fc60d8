"""Scripts: which script a character belongs to, which languages use it, and where Unicode cuts
a text that is written in it.

Python does not have Unicode's script property, but a letter's name begins with its script.
Boundaries are those of UAX 29, by ICU, which has dictionaries for the scripts without spaces:
Chinese, Japanese, Thai, Lao, Khmer, Burmese.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Literal

# script → its languages, as far as their names are known here; the first is the usual one
LANGUAGES: Mapping[str, tuple[str, ...]] = {
    "Latin": (
        *("en", "af", "az", "br", "bs", "ca", "cs", "cy", "da", "de", "eo", "es", "et", "eu"),
        *("fi", "fo", "fr", "ga", "gl", "hr", "ht", "hu", "id", "is", "it", "jv", "ku", "la"),
        *("lb", "lt", "lv", "mg", "ms", "mt", "nl", "nn", "no", "oc", "pl", "pt", "ro", "sk"),
        *("sl", "sq", "sr", "sv", "sw", "tl", "tr", "vi", "xh", "zu"),
    ),
    "Cyrillic": ("ru", "be", "bg", "kk", "ky", "mk", "mn", "sr", "uk"),
    "Arabic": ("ar", "fa", "ku", "ps", "ug", "ur"),
    "Devanagari": ("hi", "mr", "ne"),
    "Bengali": ("bn", "as"),
    "Han": ("zh",),
    "Kana": ("ja",),
    "Hangul": ("ko",),
    "Thai": ("th",),
    "Lao": ("lo",),
    "Khmer": ("km",),
    "Myanmar": ("my",),
    "Tibetan": ("bo",),
    "Greek": ("el",),
    "Hebrew": ("he",),
    "Armenian": ("hy",),
    "Georgian": ("ka",),
    "Ethiopic": ("am",),
    "Gujarati": ("gu",),
    "Gurmukhi": ("pa",),
    "Kannada": ("kn",),
    "Malayalam": ("ml",),
    "Oriya": ("or",),
    "Sinhala": ("si",),
    "Tamil": ("ta",),
    "Telugu": ("te",),
}
_NAMED = {"CJK": "Han", "HIRAGANA": "Kana", "KATAKANA": "Kana", "BOPOMOFO": "Han"}
_WIDTHS = ("FULLWIDTH", "HALFWIDTH")

# written without spaces between words
UNSPACED = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar, and its extensions
    (0xA9E0, 0xA9FF),
    (0xAA60, 0xAA7F),
    (0x1780, 0x17FF),  # Khmer
    (0x3040, 0x30FF),  # kana
    (0x3400, 0x9FFF),  # Han with its extensions and compatibility forms
    (0xF900, 0xFAFF),
    (0x20000, 0x3FFFF),
)
UNSPACED_SCRIPTS = frozenset({"Han", "Kana", "Thai", "Lao", "Khmer", "Myanmar"})
UNSPACED_LANGUAGES = frozenset({"zh", "ja", "th", "lo", "km", "my"})
BoundaryKind = Literal["character", "word", "sentence"]
SURROGATE = re.compile("[\ud800-\udfff]")


@lru_cache(maxsize=65536)
def script_of(char: str) -> str:
    """The script of a letter, such as Latin, Han or Thai; empty for anything else.

    >>> [script_of(char) for char in "aя中のกह3"]
    ['Latin', 'Cyrillic', 'Han', 'Kana', 'Thai', 'Devanagari', '']
    """
    if not char.isalpha():
        return ""
    words = unicodedata.name(char, "").split()
    first = next((word for word in words if word not in _WIDTHS), "")
    script = _NAMED.get(first, first.capitalize())
    return script if script in LANGUAGES else ""


@lru_cache(maxsize=65536)
def is_one_of_unspaced(char: str) -> bool:
    """Whether the character belongs to a script that is written without spaces."""
    code = ord(char)
    return any(first <= code <= last for first, last in UNSPACED)


def scripts_of_language(code: str) -> list[str]:
    """The scripts that a language is written in; Japanese mixes two."""
    if code == "ja":
        return ["Han", "Kana"]
    return [script for script, codes in LANGUAGES.items() if code in codes]


def without_surrogates(text: str) -> str:
    """The text with halves of surrogate pairs replaced, for tokenizers that need valid Unicode."""
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
