"""The noise floor: how often a model changes its prediction for the very same text.

Some texts are predicted again, in other batches and at other places. Agreement and word-order
sensitivity mean what they say only beside it.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from disorder.errors import NothingToMeasure
from disorder.metrics.statistics.intervals import share
from disorder.types import Ints, Score

SHARE_REPEATED = 0.01  # of the originals, and as many variants
FEWEST_REPEATED = 15


def repeated_texts(n_texts: int, rng: Generator) -> Ints:
    """Which of so many texts are predicted again, in the order in which that is done: a random one,
    so that each comes at another place among others.
    """
    n = min(n_texts, max(FEWEST_REPEATED, int(SHARE_REPEATED * n_texts)))
    return rng.choice(n_texts, size=n, replace=False)


def noise_floor(first: Ints, again: Ints) -> Score:
    """The share of texts whose predicted label is another the second time; −1 is an abstention."""
    if not len(first):
        raise NothingToMeasure("no text was predicted again")
    return share(np.asarray(first != again))
