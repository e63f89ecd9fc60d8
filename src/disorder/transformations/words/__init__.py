"""How is a text cut into words? One file a splitter; each keeps enough to rebuild the text exactly."""

from __future__ import annotations

from dataclasses import replace

from disorder.memo import Memo
from disorder.registry import SplitterPart, part
from disorder.types import Sentence

_kept: Memo[tuple[str, str], Sentence] = Memo()


def split(text: str, *, words: str = "simple") -> Sentence:
    """Cut `text` with the splitter registered as `words`; what a slower splitter of another package
    found is kept.
    """
    splitter = part(SplitterPart, words)
    if not splitter.needs:
        sentence: Sentence = splitter.function(text)
        return sentence
    [kept] = _kept([(words, text)], lambda _: [splitter.function(text)])
    return replace(kept)  # a copy, so that what is worked out of a sentence goes with it
