"""Convolutions over words, layer on layer, where padding counts as nothing at every layer."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn

from disorder.models.networks._layers import is_word


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
