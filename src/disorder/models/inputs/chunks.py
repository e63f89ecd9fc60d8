"""Chunks: what stands between two spaces of a perturbed text, as rows of chunk numbers.

Tokenizers that never join letters across a space need each chunk once ("dogs,", "the"). Which
chunks a row has follows from positions alone, so no text is put together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from disorder.transformations.rendering import lacks_space, stays_in_places, word_joints
from disorder.types import Bools, Ints, PositionRows, Sentence

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
