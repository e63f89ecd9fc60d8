"""The layers of ESIM: encode, align, compare, compose, pool."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from disorder.models.networks import Shape
from disorder.models.networks._layers import (
    LOW,
    BiLSTM,
    Classifier,
    Words,
    is_word,
    max_pool,
    mean_pool,
)


class Esim(nn.Module):
    """Enhanced sequential inference, without the tree half."""

    def __init__(self, shape: Shape, hidden: int, dropout: float) -> None:
        super().__init__()
        self.words = Words(shape, dropout)
        self.dropout = nn.Dropout(dropout)
        self.encoder = BiLSTM(shape.width, hidden)
        self.project = nn.Sequential(nn.Linear(8 * hidden, hidden), nn.ReLU())
        self.composer = BiLSTM(hidden, hidden)
        self.head = Classifier(8 * hidden, shape.n_outputs, hidden, dropout)

    def forward(self, a: Tensor, n_a: Tensor, b: Tensor, n_b: Tensor) -> Any:
        """Logits, one row per pair."""
        first, second = self.encoder(self.words(a), n_a), self.encoder(self.words(b), n_b)
        near = first @ second.transpose(1, 2)
        first_sees = attend(near, n_b) @ second
        second_sees = attend(near.transpose(1, 2), n_a) @ first
        features = [
            *self._composed(first, first_sees, n_a),
            *self._composed(second, second_sees, n_b),
        ]
        return self.head(torch.cat(features, dim=1))

    def _composed(self, own: Tensor, seen: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        matched = torch.cat([own, seen, own - seen, own * seen], dim=2)
        states = self.composer(self.dropout(self.project(matched)), lengths)
        return mean_pool(states, lengths), max_pool(states, lengths)


def attend(near: Tensor, lengths: Tensor) -> Tensor:
    """Attention weights over the words of the other text."""
    return near.masked_fill(~is_word(lengths, near.shape[2])[:, None, :], LOW).softmax(dim=2)
