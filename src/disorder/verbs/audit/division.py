"""The division of an audit: its stages (the original texts, then each transformation), the blocks
of examples in each, and the names of the parts that their samples go to.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from disorder.metrics import ORIGINAL
from disorder.transformations import Transformation
from disorder.types import Example
from disorder.verbs.audit.block import Block

BLOCK = 4096  # texts in a block: what a crash can cost; fixed: files do not depend on batch size
BLOCK_LETTERS = 1 << 26  # letters in a block: only texts of many thousand words reach it
LONGEST_NAME = 100  # letters of a spec in the name of a part
CURTAILED_BLOCK = 512  # examples in a block whose variants are predicted in rounds
SERVER_BLOCK = 512  # texts in a block that a server predicts, where every prediction counts


@dataclass(frozen=True)
class Stage:
    """The original texts (transformation None), or all texts under one transformation."""

    number: int
    transformation: Transformation | None
    spec: str
    count: int  # variants of an example at most


def stages_of(plan: Sequence[Transformation], q: int) -> list[Stage]:
    """The stages of an audit: the original texts first."""
    perturbed = [
        Stage(number, each, each.spec, each.count(q)) for number, each in enumerate(plan, start=1)
    ]
    return [Stage(0, None, ORIGINAL, 1), *perturbed]


def block_size(*, is_remote: bool) -> int:
    """How many texts go into a block."""
    return SERVER_BLOCK if is_remote else BLOCK


def blocks_of(
    stage: Stage, examples: Sequence[Example], *, size: int, is_curtailed: bool
) -> list[Block]:
    """The examples of a stage in blocks of `size` texts."""
    n_examples = max(1, size // stage.count)
    if is_curtailed and stage.count > 1:
        n_examples = CURTAILED_BLOCK
    return [
        Block(_part(stage, f"{index:05d}"), stage.spec, chosen)
        for index, chosen in enumerate(in_blocks(examples, n_examples, stage.count))
    ]


def in_blocks(examples: Sequence[Example], size: int, count: int) -> Iterator[Sequence[Example]]:
    """The examples in blocks of `size`, fewer where their texts are so long that the variants
    would not fit into memory together.
    """
    start = 0
    letters = 0
    for i, example in enumerate(examples):
        own = count * sum(len(text or "") for text in example.texts)
        if i > start and (i - start == size or letters + own > BLOCK_LETTERS):
            yield examples[start:i]
            start = i
            letters = 0
        letters += own
    if start < len(examples):
        yield examples[start:]


def portion_block(stage: Stage, examples: Sequence[Example], start: int) -> Block:
    """A portion of the examples as one block; `start` is the number of its first."""
    return Block(_part(stage, f"{start:05d}+{len(examples)}"), stage.spec, examples)


def portions_in(parts: Iterable[str]) -> dict[int, int]:
    """The portions that parts were made of: the number of the first example, and how many.

    >>> portions_in(["00-original-00000+1.parquet", "00-original-00001+40.parquet"])
    {0: 1, 1: 40}
    """
    found = (re.fullmatch(r"00-original-(\d+)\+(\d+)\.parquet", name) for name in parts)
    return {int(each[1]): int(each[2]) for each in found if each}


def _part(stage: Stage, index: str) -> str:
    name = "".join(char if char.isalnum() else "-" for char in stage.spec[:LONGEST_NAME])
    return f"{stage.number:02d}-{name}-{index}.parquet"
