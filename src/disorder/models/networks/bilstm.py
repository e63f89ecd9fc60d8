"""A bidirectional LSTM, the plain recurrent model of UnNatural Language Inference: does reading
word by word suffice?
"""

from __future__ import annotations

from typing import Any, Literal

from disorder.models.networks import Shape
from disorder.registry import network


@network(paper="UNLI", lr=1e-3, epochs=6)
def bilstm(
    shape: Shape, *, hidden: int = 128, pool: Literal["max", "mean"] = "max", dropout: float = 0.1
) -> Any:
    """A BiLSTM over each text, pooled; pairs are compared as [u; v; |u−v|; u∗v] by a straight line,
    with no hidden layer.
    """
    from disorder.models.networks._layers import BiLSTM, Siamese, max_pool, mean_pool

    pooled = max_pool if pool == "max" else mean_pool
    return Siamese(
        shape,
        BiLSTM(shape.width, hidden),
        2 * hidden,
        pooled,
        hidden=0,
        dropout=0.0,
        word_dropout=dropout,
    )
