"""Natural language inference: half of the pairs need only their words, half need the order too."""

from __future__ import annotations

from functools import partial

from .made_example import Maker
from .nli_order import LABELS, PHENOMENA, triple
from .nli_words import pair


def makers(block: int) -> list[Maker]:
    """One pair per label that words decide, and a triple that order decides."""
    pairs: list[Maker] = [partial(pair, label=label) for label in LABELS]
    return [*pairs, partial(triple, phenomenon=PHENOMENA[block % len(PHENOMENA)])]
