"""A convolutional reader (Zhao et al., 2015; Conneau et al., 2017): what do windows of a few words
see of word order?

`reach=1` looks at single words only, so it is blind to order: the same network as a bag of words.
"""

from __future__ import annotations

from typing import Any, Literal

from disorder.errors import BadSetting
from disorder.models.networks import Shape
from disorder.registry import network

SIZES = {"quick": 128, "paper": 4096}


@network(paper="UNLI", lr=1e-3, epochs=6)
def convnet(
    shape: Shape,
    *,
    size: Literal["quick", "paper"] = "quick",
    hidden: int | None = None,
    layers: int = 4,
    reach: int = 3,
    mlp: int = 512,
    dropout: float = 0.1,
) -> Any:
    """Layers of convolutions over `reach` words, each max-pooled over the text and all side by
    side; then as `infersent`.

    size=paper has the 4,096 filters per layer of Conneau et al.'s code, which UNLI used, size=quick
    128; `hidden` says another number.
    """
    if reach < 1 or reach % 2 == 0:
        raise BadSetting("convnet", reach=reach, need="an odd number of words")
    if layers < 1:
        raise BadSetting("convnet", layers=layers, need="1 or more")
    from disorder.models.networks._layers import Convolutions, Siamese, max_pool

    filters = SIZES[size] if hidden is None else hidden
    encoder = Convolutions(shape.width, filters, layers, reach)
    return Siamese(shape, encoder, filters * layers, max_pool, hidden=mlp, dropout=dropout)
