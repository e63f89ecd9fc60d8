"""InferSent (Conneau et al., 2017), one of the models of UnNatural Language Inference: does
recurrence read order?
"""

from __future__ import annotations

from typing import Any

from disorder.models.networks import Shape
from disorder.registry import network


@network(paper="UNLI", lr=1e-3, epochs=6)
def infersent(shape: Shape, *, hidden: int = 256, mlp: int = 512, dropout: float = 0.1) -> Any:
    """A BiLSTM with max-pooling over each text, then [u; v; |u−v|; u∗v] and a hidden layer of `mlp`
    units.
    """
    from disorder.models.networks._layers import BiLSTM, Siamese, max_pool

    return Siamese(
        shape, BiLSTM(shape.width, hidden), 2 * hidden, max_pool, hidden=mlp, dropout=dropout
    )
