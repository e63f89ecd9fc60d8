"""The division of an audit: its stages (the original texts, then each transformation), and the
blocks of examples in each, whose samples go to a part of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from disorder.transformations import Transformation
from disorder.types import ORIGINAL, Example

BLOCK = 4096  # texts in a block: what a crash can cost; fixed: files do not depend on batch size
BLOCK_LETTERS = 1 << 26  # letters in a block: only texts of many thousand words reach it
LONGEST_NAME = 100  # letters of a spec in the name of a part
CURTAILED_BLOCK = 512  # examples in a block whose variants are predicted in rounds
SERVER_BLOCK = 512  # texts in a block that a server predicts, where every prediction counts


@dataclass(frozen=True)
class Block:
    """Some examples under one transformation, the number of the first of them, and the part that
    their samples go to; `repeat` is how often the texts were predicted before.
    """

    part: str
    transformation: str
    examples: Sequence[Example]
    start: int = 0
    repeat: int = 0


@dataclass(frozen=True)
class Stage:
    """The original texts (transformation None), or all texts under one transformation."""

    number: int
    transformation: Transformation | None
    count: int  # variants of an example at most

    @property
    def spec(self) -> str:
        """The transformation as run files name it."""
        return ORIGINAL if self.transformation is None else self.transformation.spec

    def block(self, examples: Sequence[Example], start: int, index: int) -> Block:
        """Some examples of the stage as its block number `index`."""
        name = "".join(char if char.isalnum() else "-" for char in self.spec[:LONGEST_NAME])
        part = f"{self.number:02d}-{name}-{index:05d}.parquet"
        return Block(part, self.spec, examples, start)

    def again(self, examples: Sequence[Example], repeat: int) -> Block:
        """Some examples whose texts are predicted again, of several variants the first."""
        block = self.block(examples, 0, repeat)
        part = block.part.replace(".parquet", "-again.parquet")
        return replace(block, part=part, repeat=repeat)

    def blocks(
        self,
        examples: Sequence[Example],
        *,
        size: int,
        is_curtailed: bool,
        ends: Sequence[int] = (),
    ) -> Iterator[Block]:
        """The examples of the stage in blocks of `size` texts; one ends after each number of
        examples in `ends`, where somebody looks.
        """
        n_examples = max(1, size // self.count)
        if is_curtailed and self.count > 1:
            n_examples = CURTAILED_BLOCK
        start = index = 0
        for end in sorted({*ends, len(examples)}):
            for chosen in in_blocks(examples[start:end], n_examples, self.count):
                yield self.block(chosen, start, index)
                start += len(chosen)
                index += 1


def stages_of(plan: Sequence[Transformation], q: int) -> list[Stage]:
    """The stages of an audit: the original texts first."""
    perturbed = [Stage(number, each, each.count(q)) for number, each in enumerate(plan, start=1)]
    return [Stage(0, None, 1), *perturbed]


def block_size(*, is_remote: bool) -> int:
    """How many texts go into a block."""
    return SERVER_BLOCK if is_remote else BLOCK


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
