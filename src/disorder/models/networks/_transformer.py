"""The layers of the small Transformer: words, places and text number, added; encoder layers; a mean
over words.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

from disorder.models.networks import Shape
from disorder.models.networks._layers import Classifier, Words, is_word


class SmallTransformer(nn.Module):
    """Pre-norm encoder layers; places are sines, so that no text is too long."""

    def __init__(
        self, shape: Shape, hidden: int, layers: int, heads: int, positions: bool, dropout: float
    ) -> None:
        super().__init__()
        self.words = Words(shape, dropout)
        self.positions = positions
        self.project = nn.Linear(shape.width, hidden)
        self.texts = nn.Embedding(2, hidden)
        layer = nn.TransformerEncoderLayer(
            hidden, heads, 4 * hidden, dropout, batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(hidden)
        self.head = Classifier(hidden, shape.n_outputs, 0, dropout)

    def forward(
        self, a: Tensor, n_a: Tensor, b: Tensor | None = None, n_b: Tensor | None = None
    ) -> Any:
        """Logits, one row per text or pair."""
        states = self._embedded(a, 0)
        mask = is_word(n_a, a.shape[1])
        if b is not None and n_b is not None:
            states = torch.cat([states, self._embedded(b, 1)], dim=1)
            mask = torch.cat([mask, is_word(n_b, b.shape[1])], dim=1)
        states = self.norm(self.encoder(states, src_key_padding_mask=~mask))
        return self.head((states * mask[..., None]).sum(dim=1) / mask.sum(dim=1, keepdim=True))

    def _embedded(self, ids: Tensor, text: int) -> Any:
        states = self.project(self.words(ids)) + self.texts.weight[text]
        return states + places(*states.shape[1:], like=states) if self.positions else states


def places(n: int, width: int, *, like: Tensor) -> Tensor:
    """Sines and cosines of each place, at wavelengths from 2π to 20,000π."""
    rates = torch.exp(torch.arange(0, width, 2, device=like.device) * (-math.log(10_000.0) / width))
    angles = torch.arange(n, device=like.device)[:, None] * rates
    return torch.stack([angles.sin(), angles.cos()], dim=2).reshape(n, -1)[:, :width].to(like.dtype)
