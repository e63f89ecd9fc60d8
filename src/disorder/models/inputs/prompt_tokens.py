"""Prompts as tokens: exactly those of the whole string with each answer, and stems, which many
prompts begin with and which run once.

A tokenizer may join the last characters of a prompt and the first of an answer, so both are
tokenised together. As in lm-evaluation-harness, white space at the end of a prompt belongs to the
answer, and an answer's tokens are those after as many as the prompt alone has. A stem can stand
after another: the instruction and the examples of all prompts, then the first text of the pairs
that share it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import numpy as np

from disorder.types import Ints

Ids = tuple[int, ...]


@dataclass(frozen=True)
class PromptTokens:
    """A prompt and its answers as tokens.

    `shared` are the tokens that all answers have before them, `tails` what follows for each answer.
    The first `n_unscored` tokens of a tail still belong to the prompt: usually none, some where
    prompt and answer are joined.
    """

    shared: Ids
    tails: tuple[Ids, ...]
    n_unscored: int = 0


def prompt_tokens(
    tokenizer: Any, prompts: Sequence[str], answers: Sequence[Sequence[str]], *, special: bool
) -> list[PromptTokens]:
    """The tokens of prompts, each with its answers; `special` adds the tokenizer's own tokens, such
    as one that begins a text.
    """
    strings = [
        text
        for prompt, own in zip(prompts, answers, strict=True)
        for text in (prompt.rstrip(), *(prompt + answer for answer in own))
    ]
    ids = iter(tokenizer(strings, add_special_tokens=special)["input_ids"])
    found = []
    for own in answers:
        alone = next(ids)
        found.append(_joined(alone, [next(ids) for _ in own]))
    return found


def _joined(alone: Sequence[int], whole: Sequence[Sequence[int]]) -> PromptTokens:
    # every answer keeps at least one token to be scored
    most = min([len(alone), *(len(each) - 1 for each in whole)])
    n_shared = min(common_length(whole), most)
    n_unscored = min(len(alone), *(len(each) - 1 for each in whole)) - n_shared
    tails = tuple(tuple(each[n_shared:]) for each in whole)
    return PromptTokens(tuple(whole[0][:n_shared]), tails, n_unscored)


def common_length(rows: Sequence[Sequence[int]]) -> int:
    """How many first items all rows have in common.

    >>> common_length([(1, 2, 3), (1, 2), (1, 2, 4)])
    2
    """
    columns = zip(*rows, strict=False)
    return sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, columns))


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
