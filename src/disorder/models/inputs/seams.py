"""Seams: the tokens of a prompt with each of its answers, exactly as of the whole string.

A tokenizer may join the last characters of a prompt and the first of an answer, so both are
tokenised together. As in lm-evaluation-harness, white space at the end of a prompt belongs to the
answer, and an answer's tokens are those after as many as the prompt alone has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

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
