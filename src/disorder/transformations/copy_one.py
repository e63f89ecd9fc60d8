"""Answer a original text with one of its words: is that word enough for the model to say yes?

BERT & Family Eat Word Salad (Gupta et al., 2021), CopyOne. The released code repeats the word as
often as the second text has tokens. What importance is, and which way its sign goes: `_least.py`.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from disorder.errors import DoesNotApply
from disorder.registry import transformation
from disorder.transformations.positions.importance_rank import By, ranked
from disorder.transformations.positions.plain_rows import untouched
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
    pair: Pair, rng: Generator, count: int, *, by: By = "loss", fidelity: Fidelity = "paper"
) -> Variants:
    """Replace the second text by the one word of the first that the model's loss hangs on most."""
    if pair.b is None:
        raise DoesNotApply("there is no second text")
    if not len(pair.a):
        raise DoesNotApply("the first text has no words")
    top = int(ranked(pair.a, by)[0])
    times = max(1, len(pair.b)) if fidelity == "released" else 1
    return Variants(
        untouched(pair.a), PositionRows(pair.a, np.full((1, times), top), is_shared=True)
    )
