"""Rows that leave a sentence as it is, and rows that leave nothing of it."""

from __future__ import annotations

import numpy as np

from disorder.types import Rows, Sentence


def untouched(sentence: Sentence) -> Rows:
    """The sentence itself, as the one row."""
    return Rows(sentence, np.arange(len(sentence))[None, :], is_shared=True)


def emptied(sentence: Sentence) -> Rows:
    """No words, as the one row."""
    return Rows(sentence, np.empty((1, 0), dtype=np.int64), is_shared=True)
