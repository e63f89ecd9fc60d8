"""A convolutional reader (Zhao et al., 2015; Conneau et al., 2017): what do windows of a few words
see of word order?

`reach=1` looks at single words only, so it is blind to order: the same network as a bag of words.
"""

from __future__ import annotations

from typing import Any

from disorder.errors import BadSetting
from disorder.models.networks import Shape
from disorder.registry import network


@network(paper="UNLI", lr=1e-3, epochs=6)
def convnet(
    shape: Shape,
    *,
    hidden: int = 128,
    layers: int = 4,
    reach: int = 3,
    mlp: int = 512,
    dropout: float = 0.1,
) -> Any:
    """Layers of convolutions over `reach` words, each max-pooled over the text and all side by
    side; then as `infersent`.
    """
    if reach < 1 or reach % 2 == 0:
        raise BadSetting("convnet", reach=reach, need="an odd number of words")
    if layers < 1:
        raise BadSetting("convnet", layers=layers, need="1 or more")
    from disorder.models.networks._layers import Convolutions, Siamese, max_pool

    encoder = Convolutions(shape.width, hidden, layers, reach)
    return Siamese(shape, encoder, hidden * layers, max_pool, hidden=mlp, dropout=dropout)
