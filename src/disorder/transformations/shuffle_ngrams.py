"""Shuffle runs of n words: does a model read word order beyond n neighbours?

n=1 leaves a bag of words; a larger n keeps local order. After Out of Order (Pham et al., 2021).
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from disorder.errors import BadSetting
from disorder.registry import transformation
from disorder.transformations.positions.orders import expand, reorder, some_orders
from disorder.types import Bools, Ints, PositionRows, Sentence


@transformation(
    keeps="words, runs of n",
    keeps_words=True,
    destroys="order of runs",
    paper="OOO",
    side="task",
    draws=10,
    suites=("order", "full"),
    sweep=("n=1", "n=2", "n=3"),
    words={"paper": "spaces", "released": "spaces"},
)
def shuffle_ngrams(sentence: Sentence, rng: Generator, count: int, *, n: int = 1) -> PositionRows:
    """Permute runs of `n` words until the text differs; the final punctuation stays, words may keep
    their place.
    """
    if n < 1:
        raise BadSetting("shuffle_ngrams", n=n, need="1 or more")
    body = sentence.body
    n = min(n, max(1, len(body)))
    runs = body // n
    kinds = sentence.kinds[body]

    def differs(orders: Ints) -> Bools:
        return np.asarray((kinds[expand(runs, orders)] != kinds).any(axis=1))

    n_runs = -(-len(body) // n)  # rounded up: the last run may be shorter
    orders = some_orders(n_runs, count, rng, rule=differs)
    return reorder(sentence, expand(runs, orders), available=None if len(orders) else 0)
