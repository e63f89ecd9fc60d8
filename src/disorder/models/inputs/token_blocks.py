"""Blocks of tokens: what stands between two spaces of a perturbed text is tokenised once, and an
input is put together from such blocks and the special tokens around them.

Which chunks a row has follows from positions alone, so no text is put together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Protocol

import numpy as np

from disorder.transformations.rendering import lacks_space, stays_in_places, word_joints
from disorder.types import Bools, Ints, PositionRows, Sentence, Variants


class TokenLists(Protocol):
    """One input as lists: token numbers, and for each the number of the text it belongs to."""

    @property
    def ids(self) -> Sequence[int]:
        """Token numbers."""

    @property
    def type_ids(self) -> Sequence[int]:
        """Which text each token belongs to."""


@dataclass(frozen=True, eq=False)
class EncodedInputs:
    """Input i has the tokens `ids[starts[i] : starts[i] + lengths[i]]`."""

    ids: Ints
    type_ids: Ints
    starts: Ints
    lengths: Ints

    def __len__(self) -> int:
        return len(self.starts)

    @classmethod
    def of_lists(cls, inputs: Sequence[TokenLists]) -> EncodedInputs:
        """Inputs that were tokenised one by one."""
        lengths = np.array([len(each.ids) for each in inputs], dtype=np.int64)
        return cls(
            joined([each.ids for each in inputs]),
            joined([each.type_ids for each in inputs]),
            np.cumsum(lengths) - lengths,
            lengths,
        )

    def batch(self, members: Ints) -> tuple[Ints, Ints]:
        """Token numbers and text numbers of inputs of one length (inputs × length)."""
        places = self.starts[members][:, None] + np.arange(self.lengths[members[0]])
        return self.ids[places], self.type_ids[places]

    def with_others(self, places: Ints, others: EncodedInputs) -> EncodedInputs:
        """The inputs with those at some places replaced."""
        starts = self.starts.copy()
        lengths = self.lengths.copy()
        starts[places] = len(self.ids) + others.starts
        lengths[places] = others.lengths
        return EncodedInputs(
            np.concatenate([self.ids, others.ids]),
            np.concatenate([self.type_ids, others.type_ids]),
            starts,
            lengths,
        )


def spread(starts: Ints, lengths: Ints) -> Ints:
    """Every index of the runs that begin at `starts`, one run after the other.

    >>> spread(np.array([10, 3]), np.array([2, 3])).tolist()
    [10, 11, 3, 4, 5]
    """
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.repeat(starts - (ends - lengths), lengths) + np.arange(total)


def joined(lists: Sequence[Sequence[int]]) -> Ints:
    """The numbers of all lists, one list after the other."""
    return np.fromiter(chain.from_iterable(lists), dtype=np.int64)


# mean length of chunks worth keeping; texts in scripts without spaces would fill the memory
LONGEST = 24
MAX_WORDS = 16  # words in a chunk; more is a script without spaces, which is tokenised as texts


@dataclass(frozen=True, eq=False)
class Chunks:
    """Rows of chunk numbers, one after the other; rows that only their text can tell have none."""

    names: list[str]
    numbers: Ints
    starts: Ints  # of each row in `numbers`
    lengths: Ints  # chunks in each row
    n_letters: Ints  # of each row's text, spaces included
    is_regular: Bools  # whether the row's text is its chunks, joined by single spaces


def chunks_of(sides: Sequence[PositionRows]) -> Chunks:
    """The chunks of every row of several sentences, numbered together."""
    words: list[str] = []
    is_lowered: list[bool] = []
    cells: list[Ints] = []
    opens: list[Bools] = []
    widths: list[int] = []  # words in each row of a side; 0: only its text can tell
    for rows in sides:
        width = rows.positions.shape[1]
        if not width or rows.written is not None or not is_plain(rows.sentence):
            widths.append(0)
            continue
        widths.append(width)
        cells.append((rows.positions + len(words)).ravel())
        opens.append(_opens(rows).ravel())
        words += rows.sentence.words
        is_lowered += [rows.is_lowered] * len(rows.sentence)
    n_words = np.repeat(np.array(widths, dtype=np.int64), [len(rows) for rows in sides])
    if not cells:
        return _numbered([], [], np.empty(0, dtype=np.int64), np.empty(0, dtype=bool), n_words)
    return _numbered(words, is_lowered, np.concatenate(cells), np.concatenate(opens), n_words)


def is_plain(sentence: Sentence) -> bool:
    """Whether a sentence is words with a single space or nothing between them, and no space in or
    around them.
    """
    text = sentence.text
    words = "".join(sentence.words)
    return (
        " ".join(text.split()) == text
        and " " not in words
        and len(text) - len(words) == text.count(" ")
        and len(sentence) > 0
        and all(sentence.words)
    )


def _opens(rows: PositionRows) -> Bools:
    """Which words of each row stand at the start or after a space."""
    sentence = rows.sentence
    positions = rows.positions
    if rows.is_spaced_out and sentence.is_spaced.all():
        return np.ones(positions.shape, dtype=bool)
    n = len(sentence)
    has_gap = np.empty(n, dtype=bool)
    has_gap[0] = True
    np.greater(sentence.starts[1:], sentence.ends[:-1], out=has_gap[1:])
    if positions.shape == (1, n) and (positions[0] == np.arange(n)).all():
        return has_gap  # a text left alone
    if stays_in_places(sentence, positions):
        return np.asarray(has_gap | lacks_space(sentence, positions))
    joints = word_joints(sentence, positions)
    opens = (joints == 2 * n) | ((joints == n) & has_gap[positions])
    opens[:, 0] = True
    return np.asarray(opens)


def _numbered(
    words: Sequence[str], is_lowered: Sequence[bool], cells: Ints, opens: Bools, n_words: Ints
) -> Chunks:
    """Chunk numbers: those of one word are the word's own; longer ones get new numbers, word by
    word.
    """
    starts = np.flatnonzero(opens)
    sizes = np.diff(np.append(starts, len(cells)))
    names = list(words)
    lowered = list(is_lowered)
    numbers = cells[starts]
    for k in range(1, min(MAX_WORDS, int(sizes.max(initial=1)))):
        longer = np.flatnonzero(sizes > k)
        keys = numbers[longer] * len(words) + cells[starts[longer] + k]
        unique, places = np.unique(keys, return_inverse=True)
        numbers[longer] = len(names) + places
        for before, word in zip(
            *(part.tolist() for part in divmod(unique, len(words))), strict=True
        ):
            names.append(names[before] + words[word])
            lowered.append(is_lowered[word])
    if any(is_lowered):
        pairs = zip(names, lowered, strict=True)
        names = [name.lower() if is_low else name for name, is_low in pairs]
    return _in_rows(names, numbers, starts, sizes, n_words)


def _in_rows(names: list[str], numbers: Ints, starts: Ints, sizes: Ints, n_words: Ints) -> Chunks:
    """The chunks as rows, each row of as many words as `n_words` says."""
    ends = np.cumsum(n_words)
    first = np.searchsorted(starts, ends - n_words)
    lengths = np.searchsorted(starts, ends) - first
    n_letters_of = np.fromiter(map(len, names), dtype=np.int64, count=len(names))
    totals = np.concatenate([[0], np.cumsum(n_letters_of[numbers])])
    too_long = np.concatenate([[0], np.cumsum(sizes > MAX_WORDS)])
    is_regular = (lengths > 0) & (too_long[first + lengths] == too_long[first])
    n_letters = totals[first + lengths] - totals[first] + lengths - 1
    return Chunks(names, numbers, first, lengths, n_letters, is_regular)


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


Blocks = Callable[[str], list[int]]  # the tokens of a chunk


def assembled(
    variants: Sequence[Variants],
    frame: SpecialTokens,
    first_block: Blocks,
    later_block: Blocks,
    max_length: int,
) -> tuple[EncodedInputs, Bools]:
    """The inputs put together from blocks and special tokens, and which of them are right; the
    others are left as they are.
    """
    counts = [len(each) for each in variants]
    n_inputs = sum(counts)
    parts = [_special(frame.before, n_inputs)]
    is_regular = np.ones(n_inputs, dtype=bool)
    for number, rows in enumerate(zip(*(each.sides for each in variants), strict=True)):
        if number:
            parts.append(_special(frame.between, n_inputs))
        side = _gathered(chunks_of(rows), first_block, later_block)
        side = side.take(_row_numbers(rows, counts))
        is_regular &= side.is_regular
        ids = side.ids[spread(side.starts, side.lengths)]
        parts.append((ids, np.full(len(ids), frame.types[number]), side.lengths))
    parts.append(_special(frame.after, n_inputs))
    lengths = np.sum([part_lengths for _, _, part_lengths in parts], axis=0)
    found = _concatenated(parts, lengths)
    return found, is_regular & (lengths <= max_length)


def _special(tokens: Encoded, n: int) -> tuple[Ints, Ints, Ints]:
    """The same special tokens in each of n inputs."""
    ids, types = (np.tile(np.array(each, np.int64), n) for each in (tokens.ids, tokens.type_ids))
    return ids, types, np.full(n, len(tokens.ids))


def _concatenated(parts: Sequence[tuple[Ints, Ints, Ints]], lengths: Ints) -> EncodedInputs:
    """Inputs whose parts stand one after the other: tokens, their text numbers, and how many of
    them each input has.
    """
    starts = np.cumsum(lengths) - lengths
    ids = np.empty(int(lengths.sum()), dtype=np.int64)
    type_ids = np.empty_like(ids)
    at = starts.copy()
    for part_ids, part_types, part_lengths in parts:
        places = spread(at, part_lengths)
        ids[places] = part_ids
        type_ids[places] = part_types
        at += part_lengths
    return EncodedInputs(ids, type_ids, starts, lengths)


def _gathered(chunks: Chunks, first_block: Blocks, later_block: Blocks) -> SideTokens:
    """The tokens of every regular row of chunks; the others get none."""
    is_regular = chunks.is_regular & (chunks.n_letters <= LONGEST * chunks.lengths)
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


def _row_numbers(sides: Sequence[PositionRows], counts: Sequence[int]) -> Ints:
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
