"""Single rows, for transformations that draw nothing: all words, none of them, or some."""

from __future__ import annotations

import numpy as np

from disorder.errors import DoesNotApply
from disorder.types import Bools, Fidelity, PositionRows, Sentence


def unchanged(sentence: Sentence) -> PositionRows:
    """The sentence as it is."""
    return PositionRows(sentence, np.arange(len(sentence))[None, :], is_shared=True)


def emptied(sentence: Sentence) -> PositionRows:
    """No words at all."""
    return PositionRows(sentence, np.empty((1, 0), dtype=np.int64), is_shared=True)


def keep_only(sentence: Sentence, kept: Bools, fidelity: Fidelity) -> PositionRows:
    """The words that are kept, in their order; a text that would be left empty is skipped."""
    if not kept.any():
        raise DoesNotApply("no word of a text would be left")
    return PositionRows(
        sentence,
        np.flatnonzero(kept)[None, :],
        is_shared=True,
        is_spaced_out=fidelity == "released",
    )
