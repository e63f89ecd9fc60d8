"""Splitters: a text as words, one file per splitter; each keeps what rebuilds the text exactly."""

from __future__ import annotations

from dataclasses import replace

from disorder.memo import Memo
from disorder.registry import SplitterPart, part
from disorder.types import Sentence

_kept: Memo[tuple[str, str], Sentence] = Memo()


def split(text: str, *, words: str = "simple") -> Sentence:
    """Split `text` with the splitter registered as `words`; results of splitters that need another
    package, which are slower, are kept.
    """
    splitter = part(SplitterPart, words)
    if not splitter.needs:
        sentence: Sentence = splitter.function(text)
        return sentence
    [kept] = _kept([(words, text)], lambda _: [splitter.function(text)])
    return replace(kept)  # a copy: what is cached on a sentence must not outlive its user
