"""Replace the second text by one word of the first: is that word enough for a yes?

BERT & Family Eat Word Salad (Gupta et al., 2021), CopyOne. The released code repeats the word as
often as the second text has tokens. Importance and its sign: see `positions/important_words.py`.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from disorder.errors import DoesNotApply
from disorder.registry import transformation
from disorder.transformations.positions.important_words import RankedBy, ranked
from disorder.transformations.positions.orders import unchanged
from disorder.types import Fidelity, Pair, PositionRows, Variants


@transformation(
    keeps="one word of the first text",
    destroys="the second text",
    paper="WS",
    scope="pair",
    deterministic=True,
    copies=True,
    suites=("salad", "full"),
    words={"released": "pieces"},
    needs=("importance",),
)
def copy_one(
    pair: Pair, rng: Generator, count: int, *, by: RankedBy = "loss", fidelity: Fidelity = "paper"
) -> Variants:
    """Replace the second text by the one word of the first that the model's loss hangs on most."""
    if pair.b is None:
        raise DoesNotApply("there is no second text")
    if not len(pair.a):
        raise DoesNotApply("the first text has no words")
    top = int(ranked(pair.a, by)[0])
    times = max(1, len(pair.b)) if fidelity == "released" else 1
    return Variants(
        unchanged(pair.a), PositionRows(pair.a, np.full((1, times), top), is_shared=True)
    )
