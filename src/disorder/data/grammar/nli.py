"""Does one sentence follow from another? Half of the pairs need only their words, half need the
order too.
"""

from __future__ import annotations

from functools import partial

from .example import Maker
from .nli_order import LABELS, PHENOMENA, triple
from .nli_words import pair


def makers(block: int) -> list[Maker]:
    """One pair a label that words decide, and a triple that order decides; the phenomena take
    turns.
    """
    pairs: list[Maker] = [partial(pair, label=label) for label in LABELS]
    return [*pairs, partial(triple, phenomenon=PHENOMENA[block % len(PHENOMENA)])]
