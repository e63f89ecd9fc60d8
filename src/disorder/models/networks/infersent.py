"""InferSent (Conneau et al., 2017), one of the models of UnNatural Language Inference: does
recurrence read order?
"""

from __future__ import annotations

from typing import Any, Literal

from disorder.models.networks import Shape
from disorder.registry import network

SIZES = {"quick": 256, "paper": 2048}


@network(paper="UNLI", lr=1e-3, epochs=6)
def infersent(
    shape: Shape,
    *,
    size: Literal["quick", "paper"] = "quick",
    hidden: int | None = None,
    mlp: int = 512,
    dropout: float = 0.1,
) -> Any:
    """A BiLSTM with max-pooling over each text, then [u; v; |u−v|; u∗v] and a hidden layer of `mlp`
    units.

    size=paper has Conneau et al.'s 2,048 units per direction (vectors=FILE gives their 300-d GloVe
    vectors), size=quick 256; `hidden` says another number.
    """
    from disorder.models.networks._layers import BiLSTM, Siamese, max_pool

    units = SIZES[size] if hidden is None else hidden
    return Siamese(
        shape, BiLSTM(shape.width, units), 2 * units, max_pool, hidden=mlp, dropout=dropout
    )
