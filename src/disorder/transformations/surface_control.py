"""The surface control: the words in their original order, with the damage of a perturbed text.

Moving words also changes what is no order: marks come to stand beside other words, the first letter
loses its capital, a text no longer ends in a full stop. A model that loses its skill on the control
has lost it before a word moved.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from disorder.errors import DoesNotApply
from disorder.transformations.rendering import WrittenUnits, row_texts, written_units
from disorder.types import PositionRows, Sentence, Variants

NO_SPACES = "a text in a script without spaces cannot be damaged without moving its words"
NO_TEXT = "what the model reads is no text"
OF_PROMPT = "examples of a prompt are moved, not words"
SAME_AS_ORIGINAL = "the surface control is the original text"
OTHER_WORDS = "the perturbed text has other words"
# what may end a text, and what may follow it: He said "go."
MARKS = ".,;:!?…؟۔।॥።"
CLOSERS = "\"'”’»)]"


@dataclass(frozen=True)
class SurfaceControl:
    """The texts of a control; None where there is none, for a reason."""

    texts: tuple[str, str | None] | None
    is_original: bool = False  # the texts are the original ones: nothing needs to be predicted
    because: str = ""


def surface_control(variants: Variants) -> SurfaceControl:
    """The control of an example, written from the first of its variants.

    White space, and marks that stay where they are when words move, are as in the variant: control
    and variant hold the same written tokens. Of what moves with words the edges are as there: the
    case of the first letter, and the mark at the end or none.
    """
    reasons = [reason for rows in variants.sides if (reason := _why_none(rows))]
    if reasons:
        return SurfaceControl(None, because=reasons[0])
    first, *rest = [_controlled(rows) for rows in variants.sides]
    originals = [rows.sentence.text for rows in variants.sides]
    return SurfaceControl((first, rest[0] if rest else None), [first, *rest] == originals)


def control_of(variants: Variants) -> Variants:
    """The control as the only variant of an example; raises where there is none."""
    control = surface_control(variants)
    if control.texts is None:
        raise DoesNotApply(control.because)
    if control.is_original:
        raise DoesNotApply(SAME_AS_ORIGINAL)
    a, *b = [
        _as_it_was(rows.sentence)
        if rows.sentence.is_items
        else PositionRows.of_texts(rows.sentence, [str(text)], is_shared=True)
        for rows, text in zip(variants.sides, control.texts, strict=False)
    ]
    return Variants(a, b[0] if b else None, variants.label)


def _as_it_was(sentence: Sentence) -> PositionRows:
    return PositionRows(sentence, np.arange(len(sentence))[None, :], is_shared=True)


def _why_none(rows: PositionRows) -> str:
    """Why a text has no control; empty where it has one, or is left alone."""
    sentence = rows.sentence
    if sentence.tokens is not None:
        return NO_TEXT
    if sentence.is_shots:
        return OF_PROMPT
    every = np.arange(len(sentence))
    if rows.written is not None or not np.array_equal(np.sort(rows.positions[0]), every):
        return OTHER_WORDS
    is_moved = bool((np.diff(rows.positions[0]) != 1).any())
    return NO_SPACES if is_moved and not sentence.is_spaced.all() else ""


@dataclass(frozen=True)
class WrittenChunk:
    """What stands between two gaps of a text; `place` is where its first word stood before."""

    text: str
    place: int
    has_words: bool


def _controlled(rows: PositionRows) -> str:
    if rows.sentence.is_items:  # items that move lose nothing else
        return rows.sentence.text
    if not len(rows.sentence):
        return row_texts(rows)[0]
    order = rows.positions[0].tolist()
    written = _ending_alike(written_units(rows), rows.sentence, order)
    chunks = _chunks(written, rows.sentence, order)
    gaps = [gap for i, gap in enumerate(written.gaps) if gap or i == 0]
    ordered = sorted(chunks, key=lambda chunk: chunk.place)
    tokens = [chunk.text for chunk in ordered]
    begins = next((i for i, chunk in enumerate(ordered) if chunk.has_words), None)
    if begins is not None:
        model = next(chunk.text for chunk in chunks if chunk.has_words)
        tokens[begins] = _with_case_of(model, tokens[begins])
    return "".join(gap + token for gap, token in zip(gaps, tokens, strict=True)) + written.end


def _ending_alike(written: WrittenUnits, sentence: Sentence, order: list[int]) -> WrittenUnits:
    """The units, of which the one that ended the original text gets the final mark of the one that
    ends this text; as they are where marks that stay end the text.
    """
    last = len(order) - 1
    for i in (order[-1], last):  # a line of marks has nothing before the final one
        if sentence.is_punctuation[i] or not _ending(sentence.words[i])[0]:
            return written
    units = list(written.units)
    place = order.index(last)
    bare, _, closers = _ending(units[place])
    units[place] = bare + _ending(written.units[-1])[1] + closers
    return replace(written, units=units)


def _chunks(written: WrittenUnits, sentence: Sentence, order: list[int]) -> list[WrittenChunk]:
    starts = [i for i, gap in enumerate(written.gaps) if gap or i == 0]
    found = []
    for start, end in zip(starts, [*starts[1:], len(order)], strict=True):
        members = order[start:end]
        spoken = [i for i in members if not sentence.is_punctuation[i]]
        text = "".join(written.units[start:end])
        found.append(WrittenChunk(text, (spoken or members)[0], bool(spoken)))
    return found


def _with_case_of(model: str, token: str) -> str:
    """A token whose first letter has the case of another's; lower where that has no letter."""
    is_upper = next((char.isupper() for char in model if char.isalpha()), False)
    at = next((i for i, char in enumerate(token) if char.isalpha()), None)
    if at is None or token[at].isupper() == is_upper:
        return token
    letter = token[at].upper() if is_upper else token[at].lower()
    return token[:at] + letter + token[at + 1 :]


def _ending(token: str) -> tuple[str, str, str]:
    """A token before its final mark, that mark, and what closes after it; each may be empty.

    Not by a pattern: one that is bound to the end begins again at every mark of a long row.
    """
    marked = token.rstrip().rstrip(CLOSERS)
    bare = marked.rstrip(MARKS)
    return bare, marked[len(bare) :], token[len(marked) :]
