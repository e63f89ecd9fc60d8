"""ESIM (Chen et al., 2017), a pair model whose words look at each other: does attention before
Transformers read order?
"""

from __future__ import annotations

from typing import Any

from disorder.errors import BadModel
from disorder.models.networks import Shape
from disorder.registry import network


@network(paper="Chen et al. 2017", lr=1e-3, epochs=6)
def esim(shape: Shape, *, hidden: int = 128, dropout: float = 0.2) -> Any:
    """BiLSTM, soft alignment of the two texts, a second BiLSTM over what matched, mean and max
    pooling; pairs only.
    """
    if not shape.is_pair:
        raise BadModel(
            "esim compares two texts, and this data has one; "
            "infersent, bilstm and convnet read single texts"
        )
    from disorder.models.networks._layers import Esim

    return Esim(shape, hidden, dropout)
