"""Final punctuation: which marks at the end of a text stay there when its words move."""

from __future__ import annotations

import numpy as np

from disorder.types import Fidelity, Ints, PositionRows, Sentence


def ending(sentence: Sentence, fidelity: Fidelity) -> Ints:
    """The final run of punctuation; in Word Salad's released code only a final full stop."""
    if fidelity == "released":
        return np.arange(len(sentence))[-1:] if sentence.words[-1:] == ["."] else np.arange(0)
    return sentence.tail


def reorder(
    sentence: Sentence,
    orders: Ints,
    fidelity: Fidelity = "paper",
    *,
    available: int | None = None,
    is_shared: bool = False,
) -> PositionRows:
    """Rows that put the words before the ending in these orders, written as that fidelity writes
    them.
    """
    kept = np.tile(ending(sentence, fidelity), (len(orders), 1))
    released = fidelity == "released"
    positions = np.concatenate([orders, kept], axis=1).astype(np.int64)
    return PositionRows(
        sentence, positions, available, is_shared, is_spaced_out=released, is_lowered=released
    )


def alphabetical(sentence: Sentence, fidelity: Fidelity) -> PositionRows:
    """The words in alphabetical order, case ignored, equal words as they stood."""
    n = len(sentence) - len(ending(sentence, fidelity))
    order = sorted(range(n), key=lambda i: (sentence.words[i].casefold(), i))
    orders = np.array([order], dtype=np.int64).reshape(1, n)
    return reorder(sentence, orders, fidelity, is_shared=True)
