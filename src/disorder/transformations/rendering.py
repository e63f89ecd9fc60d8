"""Rendering: from word positions back to texts.

Neighbours that were neighbours keep the gap they had, so that the identity order gives the text
back to the letter. Other words get one space (none in scripts without spaces), and punctuation
clings as it did. In sentences that keep their gaps, white space stays in its place instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from weakref import WeakKeyDictionary

import numpy as np

from disorder.errors import DisorderError
from disorder.types import Bools, Ints, PositionRows, Sentence, Texts, Variants

NO_TEXT = (
    "unit=token moves the token numbers that a model reads, which no text can say; "
    "unit=subword moves the same pieces as text"
)
POSITIONS = 2**20  # rendered at once, so that a very long text does not fill the memory


def variant_texts(variants: Variants) -> list[Texts]:
    """The texts of an example's variants, one entry per variant."""
    if any(rows.sentence.tokens is not None for rows in variants.sides):
        raise DisorderError(NO_TEXT)
    return shown_texts(variants)


def shown_texts(variants: Variants) -> list[Texts]:
    """The same for people to read, also where the model reads no text: token by token."""
    first = row_texts(variants.a)
    second: Sequence[str | None] = [None] if variants.b is None else row_texts(variants.b)
    return [(first[i % len(first)], second[i % len(second)]) for i in range(len(variants))]


def row_texts(rows: PositionRows) -> list[str]:
    """The texts of the rows, one per row."""
    if rows.written is not None:
        return list(rows.written)
    return render(rows.sentence, rows.positions, spaced=rows.is_spaced_out, lower=rows.is_lowered)


def render(
    sentence: Sentence, positions: Ints, *, spaced: bool = False, lower: bool = False
) -> list[str]:
    """The texts that rows of positions in a sentence stand for.

    `spaced` puts a single space between any two words, as the papers' released code does (but not
    in scripts without spaces); `lower` writes lower case.
    """
    if not len(sentence) or not positions.shape[1]:
        return [sentence.text if not len(sentence) else ""] * len(positions)
    if spaced and sentence.is_spaced.all():
        words = [word.lower() for word in sentence.words] if lower else sentence.words
        return [sentence.joint.join([words[i] for i in row]) for row in positions.tolist()]
    texts = ["".join(pieces) for pieces in _written_units(sentence, positions)]
    after_last = sentence.text[int(sentence.ends[-1]) :]
    if after_last:
        ends_as_before = positions[:, -1] == len(sentence) - 1
        if stays_in_places(sentence, positions):
            ends_as_before[:] = True
        texts = [
            text + after_last if is_end else text
            for text, is_end in zip(texts, ends_as_before.tolist(), strict=True)
        ]
    return [text.lower() for text in texts] if lower else texts


@dataclass(frozen=True)
class WrittenUnits:
    """A perturbed text as units, each with the gap before it, and what follows the last."""

    gaps: list[str]
    units: list[str]
    end: str


def written_units(rows: PositionRows) -> WrittenUnits:
    """The first of the rows, unit by unit; its text is all of them put together."""
    sentence = rows.sentence
    order = rows.positions[0].tolist()
    units = [sentence.words[i] for i in order]
    if rows.is_spaced_out and sentence.is_spaced.all():
        pieces = [units[0], *(sentence.joint + unit for unit in units[1:])]
        end = ""
    else:
        [pieces] = _written_units(sentence, rows.positions[:1])
        keeps_end = stays_in_places(sentence, rows.positions) or order[-1] == len(sentence) - 1
        end = sentence.text[int(sentence.ends[-1]) :] if keeps_end else ""
    gaps = [piece[: len(piece) - len(unit)] for piece, unit in zip(pieces, units, strict=True)]
    if rows.is_lowered:
        units = [unit.lower() for unit in units]
    return WrittenUnits(gaps, units, end)


def without_each_word(sentence: Sentence) -> Iterator[str]:
    """The text without its first word, without its second, and so on."""
    n = len(sentence)
    rows = max(1, POSITIONS // max(n, 1))
    for start in range(0, n, rows):
        left_out = np.arange(start, min(n, start + rows))[:, None]
        others = np.arange(n - 1)[None, :]
        yield from render(sentence, others + (others >= left_out))


def moved_span(rows: PositionRows, k: int, start: int, end: int) -> int | None:
    """Where a piece of the original text begins in a variant; None where it is not whole."""
    sentence = rows.sentence
    if rows.written is not None or rows.is_spaced_out or not 0 <= start < end:
        return None
    first = int(np.searchsorted(sentence.ends, start, side="right"))
    last = int(np.searchsorted(sentence.starts, end, side="left")) - 1
    if not first <= last < len(sentence) or start < sentence.starts[first]:
        return None
    row = rows.positions[0 if rows.is_shared else k]
    places = np.flatnonzero(row == first)
    run = np.arange(first, last + 1)
    for place in places.tolist():
        if np.array_equal(row[place : place + len(run)], run):
            return _unit_starts(sentence, row)[place] + start - int(sentence.starts[first])
    return None


def _unit_starts(sentence: Sentence, row: Ints) -> list[int]:
    """Where each unit of a rendered row begins."""
    [pieces] = _written_units(sentence, row[None, :])
    ends = accumulate(map(len, pieces))
    sizes = (sentence.ends - sentence.starts)[row].tolist()
    return [end - size for end, size in zip(ends, sizes, strict=True)]


def _written_units(sentence: Sentence, positions: Ints) -> Iterator[list[str]]:
    """The units of each row as they are written, each with what stands before it."""
    if stays_in_places(sentence, positions):
        yield from _units_in_places(sentence, positions)
        return
    forms = _word_forms(sentence)
    for row in (positions + word_joints(sentence, positions)).tolist():
        yield [forms.written[i] for i in row]


def stays_in_places(sentence: Sentence, positions: Ints) -> bool:
    """Whether white space stays where it was: it does as long as there are as many places."""
    return sentence.keeps_gaps and positions.shape[1] == len(sentence)


def _units_in_places(sentence: Sentence, positions: Ints) -> Iterator[list[str]]:
    words = sentence.words
    gap_starts = [0, *sentence.ends[:-1].tolist()]
    gaps = [sentence.text[i:j] for i, j in zip(gap_starts, sentence.starts.tolist(), strict=True)]
    is_joined = lacks_space(sentence, positions)
    if not is_joined.any():
        for row in positions.tolist():
            yield [gap + words[i] for gap, i in zip(gaps, row, strict=True)]
        return
    for row, is_added in zip(positions.tolist(), is_joined.tolist(), strict=True):
        yield [
            (sentence.joint if is_new else gap) + words[i]
            for gap, i, is_new in zip(gaps, row, is_added, strict=True)
        ]


def lacks_space(sentence: Sentence, positions: Ints) -> Bools:
    """Before which words of each row a space is put in: a place in a script without spaces has none
    when two words of another script come to stand there.
    """
    has_no_gap = np.append(False, sentence.starts[1:] == sentence.ends[:-1])[: len(sentence)]
    if not has_no_gap.any():
        return np.zeros(positions.shape, dtype=bool)
    is_spaced = sentence.is_spaced[positions]
    after_spaced = np.concatenate([np.zeros((len(positions), 1), bool), is_spaced[:, :-1]], axis=1)
    was_glued = (np.diff(positions, axis=1, prepend=-2) == 1) & has_no_gap[positions]
    return np.asarray(has_no_gap & is_spaced & after_spaced & ~was_glued)


def with_words(sentence: Sentence, words: Sequence[str]) -> str:
    """The text with other words in the places of its own, the gaps between them as they were."""
    text = sentence.text
    starts = sentence.starts.tolist()
    ends = sentence.ends.tolist()
    pieces = [_gap(text[: starts[0]], ""), words[0]]
    for i in range(1, len(words)):
        apart = sentence.joint if sentence.is_spaced[i - 1] and sentence.is_spaced[i] else ""
        is_next = ends[i - 1] <= starts[i]
        gap = _gap(text[ends[i - 1] : starts[i]], apart) if is_next else apart
        is_new = list(words[i - 1 : i + 1]) != sentence.words[i - 1 : i + 1]
        if is_new and words[i - 1][-1].isalnum() and words[i][0].isalnum():
            gap = gap or apart  # a word in the place of a mark does not cling as the mark did
        pieces += [gap, words[i]]
    return "".join(pieces) + _gap(text[ends[-1] :], "")


def _gap(between: str, otherwise: str) -> str:
    """The white space between two words; something else where words in between were removed."""
    return otherwise if between.strip() else between


@dataclass(frozen=True)
class WordForms:
    """The words of a sentence as they can be written after another one.

    `written` holds the n words glued to the word before, then after the gap they had, then after a
    space. Marks and clitics ('s) that cling to a neighbour are never set apart from it by a space.
    """

    written: list[str]
    clings_left: Bools
    clings_right: Bools


# As long as a sentence lives, as a cached property of its own would be
_forms: WeakKeyDictionary[Sentence, WordForms] = WeakKeyDictionary()


def _word_forms(sentence: Sentence) -> WordForms:
    forms = _forms.get(sentence)
    if forms is None:
        forms = _forms[sentence] = _find_forms(sentence)
    return forms


def _find_forms(sentence: Sentence) -> WordForms:
    n = len(sentence)
    words = sentence.words
    gap_starts = [0, *sentence.ends.tolist()]
    gap_ends = [*sentence.starts.tolist(), len(sentence.text)]
    gaps = [sentence.text[i:j] for i, j in zip(gap_starts, gap_ends, strict=True)]
    after_gap = [gap + word for gap, word in zip(gaps[:n], words, strict=True)]
    after_space = [sentence.joint + word for word in words]
    has_no_gap = np.array([gap == "" for gap in gaps], dtype=bool)
    is_clitic = np.array([word[0] in "'’" for word in words], dtype=bool)
    place = np.arange(n)
    clings_left = (sentence.is_punctuation | is_clitic) & has_no_gap[:-1] & (place > 0)
    clings_right = sentence.is_punctuation & has_no_gap[1:] & ~clings_left & (place < n - 1)
    return WordForms([*words, *after_gap, *after_space], clings_left, clings_right)


def word_joints(sentence: Sentence, positions: Ints) -> Ints:
    """How each word joins the one before: 0 glued, n with the gap it had, 2n with a space."""
    forms = _word_forms(sentence)
    n = len(sentence)
    before = positions[:, :-1]
    after = positions[:, 1:]
    are_spaced = sentence.is_spaced[before] & sentence.is_spaced[after]
    is_apart = are_spaced & ~forms.clings_left[after] & ~forms.clings_right[before]
    inner = np.where(after == before + 1, n, np.where(is_apart, 2 * n, 0))
    first = np.where(positions[:, :1] == 0, n, 0)
    return np.concatenate([first, inner], axis=1)
