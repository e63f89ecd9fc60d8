"""Multiple choice: which of an example's own options is right?

Options are a list of texts, or as on the Hugging Face hub a mapping with `text` and `label`; the
answer is the place of one (from 0), its letter, or its text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from disorder.errors import BadData
from disorder.registry import task
from disorder.tasks import LETTERS, NO_ANSWER, TaskRow, column
from disorder.types import Segment

QUESTION = ("question", "ctx", "goal", "query")
OPTIONS = ("options", "choices", "endings")
CONTEXT = ("context", "passage", "article")
ANSWER = ("answer", "answerKey", "answer_idx", "label", "gold")


@task(columns=(QUESTION, OPTIONS, ANSWER), scored="choice", title="multiple choice")
def choice(row: Mapping[str, Any]) -> TaskRow:
    """A question with options of its own, of which one is right."""
    question = column(row, QUESTION)
    if not isinstance(question, str):
        raise BadData(f"a question must be a text, got {type(question).__name__}")
    options, names = options_of(column(row, OPTIONS))
    segments: dict[str, Segment] = {"question": question, "options": options}
    context = column(row, CONTEXT)
    if isinstance(context, str) and context.strip():
        segments["context"] = context
    return TaskRow(segments, place_of(column(row, ANSWER), options, names))


def options_of(given: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The texts of the options, and the names that an answer may call them by."""
    names: Any = None
    if isinstance(given, Mapping):
        given, names = given.get("text"), given.get("label")
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise BadData(f"options must be a list of texts, got {type(given).__name__}")
    texts = tuple(str(text) for text in given)
    if not 2 <= len(texts) <= len(LETTERS):
        raise BadData(f"{len(texts)} options; a question has 2 to {len(LETTERS)}")
    if names is None:
        names = LETTERS[: len(texts)]
    return texts, tuple(str(name) for name in names)


def place_of(answer: Any, options: Sequence[str], names: Sequence[str]) -> int | None:
    """The place of the right option; None where the row has no answer.

    >>> place_of("B", ["4", "2"], ["A", "B"]), place_of(1, ["4", "2"], ["A", "B"])
    (1, 1)
    >>> place_of("2", ["4", "2"], ["A", "B"]), place_of(-1, ["4", "2"], ["A", "B"])
    (1, None)
    """
    text = "" if answer is None else str(answer).strip()
    if text.lower() in NO_ANSWER:
        return None
    if isinstance(answer, str) and text in names:
        return list(names).index(text)
    if isinstance(answer, str) and list(options).count(text) == 1:
        return list(options).index(text)
    if text.isdecimal() and int(text) < len(options):
        return int(text)
    raise BadData(
        f"the answer {text!r} is none of the {len(options)} options: give its place from 0, its "
        "letter or its text"
    )
