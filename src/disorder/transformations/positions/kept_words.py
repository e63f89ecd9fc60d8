"""Rows that leave some words out."""

from __future__ import annotations

import numpy as np

from disorder.errors import DoesNotApply
from disorder.types import Bools, Fidelity, PositionRows, Sentence


def keep_only(sentence: Sentence, kept: Bools, fidelity: Fidelity) -> PositionRows:
    """The words that are kept, in their order, as the one row; a text that would be left empty is
    skipped.
    """
    if not kept.any():
        raise DoesNotApply("no word of a text would be left")
    return PositionRows(
        sentence,
        np.flatnonzero(kept)[None, :],
        is_shared=True,
        is_spaced_out=fidelity == "released",
    )
