"""Stems: tokens that many prompts begin with, run once; their keys and values are shared.

A stem can stand after another: the instruction and the examples of all prompts, then the first text
of the pairs that share it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from disorder.models.inputs.seams import Ids
from disorder.types import Ints


@dataclass(frozen=True, eq=False)
class Stem:
    """Tokens that prompts begin with, and keys and values, layer by layer, of those that stand
    after another stem.
    """

    ids: Ids = ()
    layers: tuple[tuple[Any, Any], ...] = ()
    after: Stem | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def cache(self, n_rows: int) -> Any:
        """A cache that begins with the stem, for a batch of this size."""
        from transformers import DynamicCache

        rows = [
            (keys.expand(n_rows, -1, -1, -1), values.expand(n_rows, -1, -1, -1))
            for keys, values in self.whole_layers()
        ]
        return DynamicCache(rows)

    def whole_layers(self) -> Sequence[tuple[Any, Any]]:
        """Keys and values of all its tokens."""
        import torch

        if self.after is None or not len(self.after):
            return self.layers
        return [
            (torch.cat(keys, dim=-2), torch.cat(values, dim=-2))
            for before, own in zip(self.after.whole_layers(), self.layers, strict=True)
            for keys, values in [zip(before, own, strict=True)]
        ]


def side_by_side(n_stem: int, n_own: int, lengths: Sequence[int]) -> tuple[Ints, Any]:
    """Positions, and which tokens each sees: its prompt up to itself; answers see their whole
    prompt and themselves, but not each other.
    """
    n_before = n_stem + n_own
    total = n_own + sum(lengths)
    places = np.concatenate(
        [np.arange(n_stem, n_before), *(n_before + np.arange(length) for length in lengths)]
    )
    sees = np.zeros((total, n_stem + total), dtype=bool)
    sees[:n_own, :n_before] = np.tri(n_own, n_before, n_stem, dtype=bool)
    sees[n_own:, :n_before] = True
    start = n_own
    for length in lengths:
        block = slice(start, start + length)
        columns = slice(n_stem + start, n_stem + start + length)
        sees[block, columns] = np.tri(length, dtype=bool)
        start += length
    return places.astype(np.int64), sees


def additive_mask(sees: Any, dtype: Any, device: Any) -> Any:
    """A mask that is added to attention scores: 0 where a token is seen."""
    import torch

    hidden = torch.finfo(dtype).min
    mask = torch.zeros(sees.shape, dtype=dtype)
    return mask.masked_fill(torch.from_numpy(~sees), hidden)[None, None].to(device)
