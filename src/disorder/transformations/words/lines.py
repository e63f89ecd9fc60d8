"""Lines of a text, such as turns of a dialogue or items of a list: the unit of `unit=line`."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from disorder.registry import words
from disorder.transformations.words import units_of
from disorder.types import Sentence

LINE = re.compile(r"[^\r\n]+")


@words(language="any")
def lines(text: str) -> Sentence:
    """The lines of a text that are not empty, joined again by line ends.

    >>> lines("one two\\n\\nthree").words
    ['one two', 'three']
    """
    spans = [found.span() for found in LINE.finditer(text) if not found[0].isspace()]
    return replace(units_of(text, spans, is_spaced=np.ones(len(spans), dtype=bool)), joint="\n")
