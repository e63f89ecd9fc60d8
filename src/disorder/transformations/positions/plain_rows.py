"""Rows that leave a sentence as it is, and rows that leave nothing of it."""

from __future__ import annotations

import numpy as np

from disorder.types import PositionRows, Sentence


def untouched(sentence: Sentence) -> PositionRows:
    """The sentence itself, as the one row."""
    return PositionRows(sentence, np.arange(len(sentence))[None, :], is_shared=True)


def emptied(sentence: Sentence) -> PositionRows:
    """No words, as the one row."""
    return PositionRows(sentence, np.empty((1, 0), dtype=np.int64), is_shared=True)
