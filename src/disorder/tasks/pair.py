"""Pairs: which of two texts is the better one?

A minimal pair (BLiMP, SugarCrepe) or a preference (chosen and rejected). A language model prefers
the likelier text, a function of yours the one with the higher score. Pairs of the same words in
another order are a group of their own: order alone can decide them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from disorder.errors import BadData
from disorder.registry import task
from disorder.tasks import TaskRow, column
from disorder.types import SAME_WORDS, TEXT_NAMES, text_segments

GOOD = ("good", "chosen", "sentence_good")
BAD = ("bad", "rejected", "sentence_bad")
MARKS = ".,;:!?\"'()"


@task(columns=(GOOD, BAD), scored="pair", title="pairs of a better and a worse text")
def pair(row: Mapping[str, Any]) -> TaskRow:
    """Two texts, of which the first is the better one."""
    good, bad = column(row, GOOD), column(row, BAD)
    for text in (good, bad):
        if not isinstance(text, str):
            raise BadData(f"the texts of a pair must be texts, got {type(text).__name__}")
    has_same = word_counts(good) == word_counts(bad)
    segments = text_segments((good, bad))
    groups = {SAME_WORDS: "yes" if has_same else "no"}
    return TaskRow(segments, answer=0, on=TEXT_NAMES, groups=groups)


def word_counts(text: str) -> Counter[str]:
    """How often each word stands in a text, whatever its case and the marks around it.

    >>> word_counts("Who saw whom?") == word_counts("whom saw who")
    True
    """
    return Counter(word for part in text.casefold().split() if (word := part.strip(MARKS)))
