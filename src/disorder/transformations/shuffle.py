"""Shuffle until nothing of the word order is left, not even one pair of neighbours.

BERT & Family Eat Word Salad (Gupta et al., 2021), Shuffle; the released code has no rule about
neighbours. Orders are uniform among those that keep it, except for long texts with repeated words,
where random orders are repaired by swaps.
"""

from __future__ import annotations

from numpy.random import Generator

from disorder.registry import transformation
from disorder.transformations.positions.orders import (
    differs,
    distinct_orders,
    ending,
    reorder,
    without_old_bigrams,
)
from disorder.types import Fidelity, PositionRows, Sentence


@transformation(
    keeps="words",
    keeps_words=True,
    destroys="order and every bigram",
    paper="WS",
    draws=10,
    suites=("salad", "full"),
    words={"released": "nltk"},
)
def shuffle(
    sentence: Sentence, rng: Generator, count: int, *, fidelity: Fidelity = "paper"
) -> PositionRows:
    """Shuffle so that no two neighbours of the text stand together again; the final punctuation
    stays.
    """
    n = len(sentence) - len(ending(sentence, fidelity))
    kinds = sentence.kinds[:n]
    if fidelity == "released":
        orders, available = distinct_orders(n, count, rng, rule=differs(kinds))
    else:
        orders, available = without_old_bigrams(kinds, count, rng)
    return reorder(sentence, orders, fidelity, available=available)
