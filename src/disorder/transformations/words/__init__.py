"""Splitters: a text as words, one file per splitter; each keeps what rebuilds the text exactly."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from importlib.util import find_spec

from disorder.languages import UNSPACED_LANGUAGES
from disorder.registry import SplitterPart, part
from disorder.store.store import Memo
from disorder.transformations.words.sentence import with_kept_gaps, with_whole_characters
from disorder.types import Sentence

ANY = "any"
SPACED = "any written with spaces"
DEFAULT = "icu"
NATURAL = "natural"  # units as they are written; after the name of another: its gaps stay

_kept: Memo[tuple[str, str], Sentence] = Memo()


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
    """Whether a splitter is made for texts in a language; one for a single language may be used
    where the language is not known.
    """
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
