"""Splitters: a text as words, one file per splitter; each keeps what rebuilds the text exactly.

What all of them share is here: character classes, and the step from spans to a `Sentence`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from importlib.util import find_spec

import numpy as np

from disorder.languages import UNSPACED_LANGUAGES, is_one_of_unspaced, segments
from disorder.registry import SplitterPart, part
from disorder.store.store import Memo
from disorder.types import Bools, Sentence, TokenUnit

ANY = "any"
SPACED = "any written with spaces"
DEFAULT = "icu"
NATURAL = "natural"  # units as they are written; after the name of another: its gaps stay

# what is moved where it is not words
PIECES = "pieces"  # the units are the audited model's own tokens
TOKENS = "tokens"  # the units are token numbers, which reach the model without becoming a text
UNITS = {
    "char": "characters",
    "subword": PIECES,
    "token": TOKENS,
    "sentence": "sentences",
    "line": "lines",
}  # what is moved → the splitter that finds it
PUNKT = "punkt"  # the other way to find sentences
BREAKING_WORDS = ("char", "subword", "token")  # units that leave no word whole
LONGER = ("sentence", "line")  # units of whole words, with white space between them

_kept: Memo[tuple[str, str], Sentence] = Memo()
# Kana; Han with its extensions and compatibility forms
IDEOGRAPHS = ((0x3040, 0x30FF), (0x3400, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF))


def split(text: str, *, words: str = DEFAULT) -> Sentence:
    """Split `text` with the splitter registered as `words` (`punkt:de`: that of a language;
    `lines:natural`: white space stays in its place); results of splitters that need another
    package, which are slower, are kept.
    """
    name, _, language = words.partition(":")
    splitter = part(SplitterPart, name)
    if not splitter.needs:
        sentence: Sentence = splitter.function(text)
        return with_kept_gaps(sentence) if language == NATURAL else sentence
    more = [language] if language else []
    [kept] = _kept(
        [(words, text)], lambda _: [with_whole_characters(splitter.function(text, *more))]
    )
    return replace(kept)  # a copy: what is cached on a sentence must not outlive its user


def default_splitter(language: str, *, for_tags: bool = False) -> str:
    """The splitter for texts in a language where neither user nor paper names one: `icu`, whatever
    is installed; word classes are found of the words that their tagger finds (Chinese: jieba).
    """
    return "jieba" if for_tags and language == "zh" and _has_jieba() else DEFAULT


def fits(splitter: str, language: str) -> bool:
    """Whether a splitter is made for texts in a language, or that language is not known."""
    made_for = part(SplitterPart, splitter).language
    if made_for == SPACED:
        return language not in UNSPACED_LANGUAGES and language != "mul"
    return made_for in (ANY, language) or language == "und"


def is_for_another(splitter: str, language: str) -> bool:
    """Whether a splitter is made for one language and the texts are in another; one that cuts at
    spaces is for whoever has put spaces there.
    """
    is_for_one = part(SplitterPart, splitter).language not in (ANY, SPACED)
    return is_for_one and not fits(splitter, language)


@lru_cache(maxsize=1)
def _has_jieba() -> bool:
    return find_spec("rjieba") is not None


@lru_cache(maxsize=65536)
def class_of(char: str) -> str:
    """The class of a character, as one letter.

    s space, d digit, w letter, m mark or joiner, z Han or kana, a apostrophe, h hyphen, n dot or
    comma, p other punctuation, e emoji and other symbols.
    """
    if char.isspace():
        return "s"
    for chars, letter in (("'’", "a"), ("-‐", "h"), (".,", "n"), ("_", "w")):
        if char in chars:
            return letter
    category = unicodedata.category(char)
    if category in ("Mn", "Mc", "Me", "Cf"):
        return "m"
    if category in ("So", "Sk", "Sc", "Sm", "Cc", "Cs", "Co", "Cn"):
        return "e"
    if category.startswith("P"):
        return "p"
    if category == "Nd":
        return "d"
    return "z" if is_ideograph(char) else "w"


def is_ideograph(char: str) -> bool:
    """Whether the character is Han or kana."""
    code = ord(char)
    return any(first <= code <= last for first, last in IDEOGRAPHS)


def is_punctuation(word: str) -> bool:
    """Whether a word is made of punctuation alone."""
    if word[:1].isalnum():
        return False
    return bool(word) and all(unicodedata.category(char).startswith("P") for char in word)


def sentence_of(text: str, spans: Sequence[tuple[int, int]]) -> Sentence:
    """A `Sentence` from the spans of its words."""
    bounds = np.array(spans, dtype=np.int64).reshape(-1, 2)
    words = [text[i:j] for i, j in spans]
    punctuation = np.array([is_punctuation(word) for word in words], dtype=bool)
    if text.isascii():
        return Sentence(
            text, bounds[:, 0], bounds[:, 1], punctuation, np.ones(len(words), dtype=bool)
        )
    spaced = np.array([not is_one_of_unspaced(word[0]) for word in words], dtype=bool)
    if not spaced.all():
        spaced &= ~punctuation
    return Sentence(text, bounds[:, 0], bounds[:, 1], punctuation, spaced)


def with_whole_characters(sentence: Sentence) -> Sentence:
    """The sentence with words joined where a tokenizer cut inside a character (some emoji)."""
    if sentence.text.isascii() or not len(sentence):
        return sentence
    bounds = np.array(segments(sentence.text, "character"))
    return _merged(sentence, np.isin(sentence.starts, bounds))


def with_kept_gaps(sentence: Sentence) -> Sentence:
    """The sentence with its white space bound to places; units of a script with spaces that have
    none between them (a sentence was found to end inside an address) are one.
    """
    if not len(sentence):
        return replace(sentence, keeps_gaps=True)
    begins = np.append(True, sentence.starts[1:] > sentence.ends[:-1])
    is_unspaced = [any(map(is_one_of_unspaced, unit)) for unit in sentence.words]
    begins[1:] |= np.array(is_unspaced[1:], dtype=bool) | np.array(is_unspaced[:-1], dtype=bool)
    return replace(_merged(sentence, begins), keeps_gaps=True)


def _merged(sentence: Sentence, begins: Bools) -> Sentence:
    """The sentence with units joined to the one before where they do not begin one."""
    begins[0] = True
    if begins.all():
        return sentence
    first = np.flatnonzero(begins)
    last = np.append(first[1:], len(sentence)) - 1
    is_mark = np.logical_and.reduceat(sentence.is_punctuation, first)
    starts, ends = sentence.starts[first], sentence.ends[last]
    is_spaced = sentence.is_spaced[first]
    return Sentence(sentence.text, starts, ends, is_mark, is_spaced, joint=sentence.joint)


def token_sentence(text: str, units: Sequence[TokenUnit]) -> Sentence:
    """A `Sentence` whose units are tokens; their spans show where each lies in the text."""
    sentence = sentence_of(text, [(start, end) for start, end, _ in units])
    return replace(sentence, tokens=tuple(tokens for _, _, tokens in units))


def units_of(text: str, spans: Sequence[tuple[int, int]], *, is_spaced: Bools) -> Sentence:
    """A `Sentence` whose units are longer than words: none is punctuation."""
    bounds = np.array(spans, dtype=np.int64).reshape(-1, 2)
    no_marks = np.zeros(len(bounds), dtype=bool)
    return Sentence(text, bounds[:, 0], bounds[:, 1], no_marks, is_spaced)


def spans_of(text: str, words: Sequence[str]) -> list[tuple[int, int]]:
    """Find each word in the text, left to right; for tokenizers that give strings alone."""
    spans = []
    at = 0
    for word in words:
        start = text.index(word, at)
        at = start + len(word)
        spans.append((start, at))
    return spans
