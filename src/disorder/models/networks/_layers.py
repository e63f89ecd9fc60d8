"""The layers that the networks share. Each keeps padding out: a padded text gives the numbers that
it gives alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

from disorder.models.networks import Shape

LOW = -1e4  # stands for minus infinity, also in half precision


def is_word(lengths: Tensor, n: int) -> Tensor:
    """Which places of a batch hold words (texts × n)."""
    return torch.arange(n, device=lengths.device)[None, :] < lengths[:, None]


def max_pool(states: Tensor, lengths: Tensor) -> Tensor:
    """The largest value of each feature over the words of a text."""
    return states.masked_fill(~is_word(lengths, states.shape[1])[..., None], LOW).amax(dim=1)


def mean_pool(states: Tensor, lengths: Tensor) -> Tensor:
    """The mean of each feature over the words of a text."""
    return (states * is_word(lengths, states.shape[1])[..., None]).sum(dim=1) / lengths[:, None]


def compared(u: Tensor, v: Tensor) -> Tensor:
    """Two texts as one row of features: both, how far apart, and where they agree (Conneau et al.,
    2017).
    """
    return torch.cat([u, v, (u - v).abs(), u * v], dim=1)


class Words(nn.Module):
    """Word numbers to vectors, learned or given."""

    def __init__(self, shape: Shape, dropout: float) -> None:
        super().__init__()
        self.table = nn.Embedding(shape.n_words, shape.width, padding_idx=0)
        nn.init.normal_(self.table.weight, std=0.4)  # as spread as GloVe's
        with torch.no_grad():
            self.table.weight[0] = 0
        self.dropout = nn.Dropout(dropout)

    def forward(self, ids: Tensor) -> Any:
        """Vectors of a batch of texts."""
        return self.dropout(self.table(ids))


class BiLSTM(nn.Module):
    """A bidirectional LSTM. The backward half reads each text turned round within its own length.

    So padding always comes last and is never read before a word, with no packing: on a CPU packed
    sequences are slow.
    """

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.forwards = nn.LSTM(width, hidden, batch_first=True)
        self.backwards = nn.LSTM(width, hidden, batch_first=True)
        for name, weight in self.named_parameters():
            if "weight_hh" in name:  # orthogonal blocks keep gradients alive over long texts
                for block in weight.data.chunk(4):
                    nn.init.orthogonal_(block)

    def forward(self, states: Tensor, lengths: Tensor) -> Tensor:
        """States of both directions side by side, one per word."""
        places = torch.arange(states.shape[1], device=states.device)
        turned = (lengths[:, None] - 1 - places).clamp(min=0)[..., None]
        ahead, _ = self.forwards(states)
        behind, _ = self.backwards(states.gather(1, turned.expand(-1, -1, states.shape[2])))
        return torch.cat([ahead, behind.gather(1, turned.expand(-1, -1, behind.shape[2]))], dim=2)


class Classifier(nn.Module):
    """Features to outputs: a straight line, or one hidden layer."""

    def __init__(self, n_features: int, n_outputs: int, hidden: int, dropout: float) -> None:
        super().__init__()
        layers = [nn.Dropout(dropout), nn.Linear(n_features, hidden), nn.ReLU()] if hidden else []
        self.body = nn.Sequential(*layers)
        self.out = nn.Linear(hidden or n_features, n_outputs)

    def forward(self, features: Tensor) -> Any:
        """Logits."""
        return self.out(self.body(features))


class Siamese(nn.Module):
    """One encoder for both texts, then a classifier over what they share; a single text goes
    straight to it.
    """

    def __init__(
        self,
        shape: Shape,
        encoder: nn.Module,
        n_features: int,
        pool: Callable[[Tensor, Tensor], Tensor],
        *,
        hidden: int,
        dropout: float,
        word_dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.words = Words(shape, word_dropout)
        self.encoder = encoder
        self.pool = pool
        self.head = Classifier(
            n_features * (4 if shape.is_pair else 1), shape.n_outputs, hidden, dropout
        )

    def forward(
        self, a: Tensor, n_a: Tensor, b: Tensor | None = None, n_b: Tensor | None = None
    ) -> Any:
        """Logits, one row per text or pair."""
        u = self._encode(a, n_a)
        return self.head(u if b is None or n_b is None else compared(u, self._encode(b, n_b)))

    def _encode(self, ids: Tensor, lengths: Tensor) -> Tensor:
        return self.pool(self.encoder(self.words(ids), lengths), lengths)


class Convolutions(nn.Module):
    """Each layer reads the one below; the states of all layers stand side by side."""

    def __init__(self, width: int, hidden: int, layers: int, reach: int) -> None:
        super().__init__()
        sizes = [width, *[hidden] * layers]
        self.layers = nn.ModuleList(
            nn.Conv1d(below, above, reach, padding=reach // 2) for below, above in pairwise(sizes)
        )

    def forward(self, states: Tensor, lengths: Tensor) -> Tensor:
        """States of all layers, one row per word."""
        mask = is_word(lengths, states.shape[1])[:, None, :]
        below, found = states.transpose(1, 2) * mask, []
        for layer in self.layers:
            below = torch.relu(layer(below)) * mask
            found.append(below)
        return torch.cat(found, dim=1).transpose(1, 2)


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
