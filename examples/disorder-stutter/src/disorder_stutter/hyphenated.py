"""A splitter: the parts of a hyphenated word are words of their own."""

from __future__ import annotations

import re

from disorder.registry import words
from disorder.transformations.words import sentence_of
from disorder.types import Sentence


@words(language="any written with spaces")
def hyphenated(text: str) -> Sentence:
    """Words end at spaces and at hyphens, which stand alone."""
    return sentence_of(text, [match.span() for match in re.finditer(r"-|[^\s-]+", text)])
