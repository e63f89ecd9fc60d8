"""Sentences of a passage, by Unicode's rules: the unit of `unit=sentence`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from disorder.languages import segments
from disorder.registry import words
from disorder.transformations.words import units_of
from disorder.types import Sentence

# a full stop after one of these, or after an initial, ends no sentence
ABBREVIATED = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|st|prof|rev|gen|gov|sen|rep|jr|sr|vs|no|fig|e\.g|i\.e|bzw|z\.B|Nr|ca)"
    r"|(?<!\w)[^\W\d_])\.\s*$",
    re.IGNORECASE,
)


@words(language="any")
def sentences(text: str) -> Sentence:
    """The sentences of a passage; full stops of titles, initials and a few abbreviations end none.

    >>> sentences("Dr. Li came. He saw us! 我来了。他走了。").words
    ['Dr. Li came.', 'He saw us!', '我来了。', '他走了。']
    """
    spans = [span for span in _spans(text) if span[1] > span[0]]
    gaps = [text[i:j] for (_, i), (j, _) in pairwise(spans)]
    return units_of(text, spans, is_spaced=np.full(len(spans), not gaps or any(gaps), dtype=bool))


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Where sentences lie, without the white space around them."""
    start = 0
    for end in segments(text, "sentence")[1:]:
        if end < len(text) and ABBREVIATED.search(text, start, end):
            continue
        piece = text[start:end]
        lead = len(piece) - len(piece.lstrip())
        yield start + lead, start + max(lead, len(piece.rstrip()))
        start = end
