"""Blocks of tokens put together: the words of each text, and the special tokens around them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from disorder.models.inputs.chunks import Chunks
from disorder.models.inputs.encoded import EncodedInputs, joined, spread
from disorder.types import Bools, Ints, PositionRows


@dataclass(frozen=True)
class Encoded:
    """One input: token numbers, and for each the number of the text it belongs to."""

    ids: list[int]
    type_ids: list[int]


@dataclass(frozen=True)
class SpecialTokens:
    """The special tokens around the texts, and the numbers of the texts themselves."""

    before: Encoded
    between: Encoded
    after: Encoded
    types: tuple[int, int]

    @property
    def n_tokens(self) -> int:
        """How many special tokens an input has."""
        return len(self.before.ids) + len(self.between.ids) + len(self.after.ids)


@dataclass(frozen=True, eq=False)
class SideTokens:
    """The tokens of one side, one run per row of positions; None of a row that is not regular."""

    ids: Ints
    starts: Ints
    lengths: Ints
    is_regular: Bools

    def take(self, rows: Ints) -> SideTokens:
        """The runs of some rows, in any order; the tokens are shared."""
        return SideTokens(self.ids, self.starts[rows], self.lengths[rows], self.is_regular[rows])


def put_together(frame: SpecialTokens, first: list[int], second: list[int]) -> Encoded:
    """One input: the special tokens around the tokens of its texts."""
    ids = [*frame.before.ids, *first, *frame.between.ids, *second, *frame.after.ids]
    types = [
        *frame.before.type_ids,
        *[frame.types[0]] * len(first),
        *frame.between.type_ids,
        *[frame.types[1]] * len(second),
        *frame.after.type_ids,
    ]
    return Encoded(ids, types)


@dataclass(frozen=True, eq=False)
class InputPart:
    """What stands at one place of every input: a run of tokens each, with their text numbers."""

    ids: Ints
    type_ids: Ints
    lengths: Ints


def special(tokens: Encoded, n: int) -> InputPart:
    """The same special tokens in each of n inputs."""
    lengths = np.full(n, len(tokens.ids))
    ids, types = (np.tile(np.array(each, np.int64), n) for each in (tokens.ids, tokens.type_ids))
    return InputPart(ids, types, lengths)


def words_of(side: SideTokens, type_id: int) -> InputPart:
    """The tokens of a text, which all have one text number."""
    ids = side.ids[spread(side.starts, side.lengths)]
    return InputPart(ids, np.full(len(ids), type_id), side.lengths)


def concatenated(parts: Sequence[InputPart]) -> EncodedInputs:
    """Inputs whose parts stand one after the other."""
    lengths = np.sum([part.lengths for part in parts], axis=0)
    starts = np.cumsum(lengths) - lengths
    ids = np.empty(int(lengths.sum()), dtype=np.int64)
    type_ids = np.empty_like(ids)
    at = starts.copy()
    for part in parts:
        places = spread(at, part.lengths)
        ids[places] = part.ids
        type_ids[places] = part.type_ids
        at += part.lengths
    return EncodedInputs(ids, type_ids, starts, lengths)


def gathered(
    chunks: Chunks,
    is_regular: Bools,
    first_block: Callable[[str], list[int]],
    later_block: Callable[[str], list[int]],
) -> SideTokens:
    """The tokens of every regular row of chunks; the others get none."""
    lengths = np.where(is_regular, chunks.lengths, 0)
    numbers = chunks.numbers[spread(chunks.starts, lengths)]
    keys = numbers + len(chunks.names)  # a chunk has a block at the start of a text, one later
    ends = np.cumsum(lengths)
    keys[(ends - lengths)[is_regular]] -= len(chunks.names)
    is_used = np.zeros(2 * len(chunks.names), dtype=bool)
    is_used[keys] = True
    first, later = (np.flatnonzero(each).tolist() for each in np.split(is_used, 2))
    blocks = [first_block(chunks.names[i]) for i in first]
    blocks += [later_block(chunks.names[i]) for i in later]
    sizes = np.zeros(len(is_used), dtype=np.int64)
    sizes[is_used] = list(map(len, blocks))
    offsets = np.cumsum(sizes) - sizes
    pool = joined(blocks)
    ids = pool[spread(offsets[keys], sizes[keys])]
    totals = np.concatenate([[0], np.cumsum(sizes[keys])])
    starts = totals[ends - lengths]
    return SideTokens(ids, starts, totals[ends] - starts, is_regular)


def row_numbers(sides: Sequence[PositionRows], counts: Sequence[int]) -> Ints:
    """For every variant of every example the number of its row; a shared row stands for all."""
    n_rows = np.array([len(rows) for rows in sides])
    first = np.repeat(np.cumsum(n_rows) - n_rows, counts)
    is_own = np.repeat([not rows.is_shared for rows in sides], counts)
    ends = np.cumsum(counts)
    within = np.arange(ends[-1]) - np.repeat(ends - np.array(counts), counts)
    return np.asarray(first + within * is_own)


def framed(whole: Encoded, word: list[int], is_pair: bool) -> SpecialTokens | None:
    """The special tokens around a word that stands in every text; None where it is not found."""
    n = len(word)
    starts = [i for i in range(len(whole.ids) - n + 1) if whole.ids[i : i + n] == word]
    if len(starts) != 1 + is_pair:
        return None

    def cut(start: int, end: int) -> Encoded:
        return Encoded(whole.ids[start:end], whole.type_ids[start:end])

    first, last = starts[0], starts[-1]
    between = cut(first + n, last) if is_pair else Encoded([], [])
    types = (whole.type_ids[first], whole.type_ids[last])
    return SpecialTokens(cut(0, first), between, cut(last + n, len(whole.ids)), types)
