"""How is a text cut into words? One file a splitter; each keeps enough to rebuild the text exactly."""

from __future__ import annotations

from disorder.registry import part
from disorder.types import Sentence


def split(text: str, *, words: str = "simple") -> Sentence:
    """Cut `text` with the splitter registered as `words`."""
    sentence: Sentence = part("words", words).function(text)
    return sentence
