"""A small Transformer from scratch: how much does attention learn of word order without
pre-training?

`positions=false` takes the place of each word away, which leaves a set of words: blind to order by
construction.
"""

from __future__ import annotations

from typing import Any

from disorder.errors import BadSetting
from disorder.models.networks import Shape
from disorder.registry import network


@network(paper="Vaswani et al. 2017", lr=5e-4, epochs=8)
def transformer(
    shape: Shape,
    *,
    hidden: int = 128,
    layers: int = 2,
    heads: int = 4,
    positions: bool = True,
    dropout: float = 0.1,
) -> Any:
    """Self-attention over the text (or both texts, one after the other), mean-pooled; words carry
    their position.
    """
    from disorder.models.networks._layers import SmallTransformer

    if hidden % heads or layers < 1:
        raise BadSetting(
            "transformer",
            hidden=hidden,
            heads=heads,
            layers=layers,
            need="heads that divide hidden, a layer",
        )
    return SmallTransformer(shape, hidden, layers, heads, positions, dropout)
