"""Open answers: a question that is answered in the model's own words, with gold answers.

The passage that it is about, where there is one, stands before it. An answer is scored by SQuAD's
F1, by exact match, by whether it contains a gold answer, or by a function of yours (`--match`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from disorder.errors import BadData
from disorder.registry import task
from disorder.tasks import TaskRow, column
from disorder.tasks.choice import CONTEXT, PASSAGES, about
from disorder.tasks.layouts import is_nothing, literal
from disorder.types import Segment

QUESTION = ("question", "text_a", "问题")
ANSWERS = ("answers", "answer", "answers_spans", "答案")
PASSAGE = (*CONTEXT, "text_b", *PASSAGES)
GIVEN = ("text", "value", "aliases", "spans")  # what the texts of an answer stand under


@task(columns=(QUESTION, ANSWERS), scored="text", title="open answers")
def text(row: Mapping[str, Any]) -> TaskRow:
    """A question with the answers that count as right."""
    segments: dict[str, Segment] = {"question": str(column(row, QUESTION))}
    segments |= about(row, PASSAGE)
    segments["answers"] = tuple(each for each in answers_of(column(row, ANSWERS)) if each.strip())
    return TaskRow(segments, answer=0 if segments["answers"] else None)


def answers_of(given: Any) -> list[str]:
    """Gold answers as lists of texts, however they are laid out.

    >>> answers_of({"text": ["France"], "answer_start": [159]}), answers_of("France")
    (['France'], ['France'])
    """
    if is_nothing(given):
        return []
    if isinstance(given, Mapping):
        if any(isinstance(each, bool) for each in given.values()) or not {*GIVEN} & {*given}:
            raise BadData(f"answers must be texts, got an object with {', '.join(map(str, given))}")
        return [text for name in GIVEN for text in answers_of(given.get(name))]
    if isinstance(given, list | tuple):
        return [text for each in given for text in answers_of(each)]
    if isinstance(given, str):
        found = literal(given)
        texts = found if isinstance(found, list | tuple) else ()
        is_read = isinstance(found, dict) or (texts and all(isinstance(x, str) for x in texts))
        return answers_of(found) if is_read else [given]
    if isinstance(given, int | float):
        return [str(given)]
    raise BadData(f"answers must be texts, got {type(given).__name__}")
