"""Text places: which tokens of a prompt are those of the text that is asked about.

A prompt is tokenised as a whole, so a text's tokens are found by where they lie. A token that the
text shares with the prompt around it belongs to the prompt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from disorder.errors import BadModel, DoesNotApply
from disorder.models.inputs.pieces import Spans, token_units
from disorder.models.inputs.seams import PromptTokens
from disorder.types import Texts, TokenUnit

MARKS = ("\ue000", "\ue001")  # private characters, which stand for the two texts


@dataclass(frozen=True)
class TextPlace:
    """One text in a prompt: its tokens from `start` to `end`, and as units that can be moved."""

    start: int
    end: int
    units: list[TokenUnit]


def marked(texts: Texts) -> Texts:
    """Marks in the place of the texts of an example."""
    return MARKS[0], None if texts[1] is None else MARKS[1]


def text_places(
    prompt: str, with_marks: str, texts: Texts, ids: Sequence[int], offsets: Spans
) -> list[TextPlace]:
    """Where the texts of an example lie in the tokens of a prompt, in the order of the example.

    `with_marks` is the same prompt with `MARKS` for the texts.
    """
    given = [text for text in texts if text is not None]
    places = []
    for text, start in zip(given, _starts(prompt, with_marks, given), strict=True):
        inside = [
            i
            for i, (first, last) in enumerate(offsets)
            if _is_inside(prompt, first, last, start, start + len(text))
        ]
        if not inside:
            raise DoesNotApply("the prompt shares its tokens with the text")
        first, end = inside[0], inside[-1] + 1
        spans = [(max(i, start) - start, j - start) for i, j in offsets[first:end]]
        places.append(TextPlace(first, end, token_units(text, ids[first:end], spans)))
    return places


def with_moved(
    tokens: PromptTokens, places: Sequence[TextPlace], moved: tuple[list[int], list[int] | None]
) -> PromptTokens:
    """The tokens of a prompt with other orders of its texts' tokens in their places."""
    shared = list(tokens.shared)
    for place, row in zip(places, moved, strict=False):
        shared[place.start : place.end] = row or ()
    return replace(tokens, shared=tuple(shared))


def _starts(prompt: str, with_marks: str, texts: Sequence[str]) -> list[int]:
    """Where each text begins in the prompt."""
    found = {mark: with_marks.find(mark) for mark in MARKS[: len(texts)]}
    if any(with_marks.count(mark) != 1 for mark in found):
        raise BadModel(
            "unit=token needs a prompt in which each text stands once; unit=subword does not"
        )
    lengths = dict(zip(MARKS, map(len, texts), strict=False))
    starts = [
        place + sum(lengths[other] - 1 for other in found if found[other] < place)
        for place in found.values()
    ]
    if any(
        prompt[start : start + len(text)] != text for start, text in zip(starts, texts, strict=True)
    ):
        raise DoesNotApply("the prompt does not hold the text as it is")
    return starts


def _is_inside(prompt: str, first: int, last: int, start: int, end: int) -> bool:
    """Whether a token lies in a text, white space before its letters aside."""
    letters = first + len(prompt[first:last]) - len(prompt[first:last].lstrip())
    return start <= letters < last <= end
