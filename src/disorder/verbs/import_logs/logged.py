"""One row of another tool's log: what a model got, and what it answered."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

MARK = "disorder"  # where our solver for inspect_ai notes what it did


@dataclass(frozen=True)
class LoggedAnswer:
    """What was asked, what is right, and what was answered: shares of the options, the text of one
    of them, or how far an open answer is right. `transformation` is empty where the log does not
    say it.
    """

    id: str
    text: str
    gold: str  # the right option, or an answer that counts as right
    options: tuple[str, ...] = ()  # empty for an answer in the model's own words
    place: int | None = None  # of the right one of them, which two may be written alike
    shares: tuple[float, ...] | None = None
    answer: str | None = None
    score: float | None = None  # from 0 to 1, as the log grades it
    transformation: str = ""
    variant: int | None = None
    failure: str = ""  # why there is no answer
    source: str = ""  # the log
    task: str = ""
    model: str = ""


def without_frame(rows: Sequence[LoggedAnswer]) -> list[LoggedAnswer]:
    """The rows without what all prompts begin and end with: instruction, shots, field names."""
    texts = {row.text for row in rows}
    start, end = frame(texts)
    return [replace(row, text=row.text[start : len(row.text) - end].strip()) for row in rows]


BREAK = re.compile(r"\n|: ")


def frame(texts: Iterable[str]) -> tuple[int, int]:
    """How many letters at the beginning and at the end are those of every prompt, up to the end of
    a line or a colon; none where some text would be left empty.

    >>> frame(["Say it.\\nReview: so good\\nAnswer:", "Say it.\\nReview: so bad\\nAnswer:"])
    (16, 8)
    """
    known = list(texts)
    shared = _shared(known)
    start = max((found.end() for found in BREAK.finditer(shared)), default=0)
    behind = _shared([text[start:][::-1] for text in known])[::-1]
    newline = behind.find("\n")
    end = 0 if newline < 0 else len(behind) - newline
    if any(not text[start : len(text) - end].strip() for text in known):
        return 0, 0
    return start, end


def _shared(texts: Sequence[str]) -> str:
    """How all of some texts begin: as the first and the last of them in order do."""
    first, last = min(texts), max(texts)
    pairs = enumerate(zip(first, last, strict=False))
    differs = next((i for i, (a, b) in pairs if a != b), len(first))
    return first[:differs]
