"""Cause or effect: which of two sentences follows from a premise, or led to it?

Choice of plausible alternatives (COPA, XCOPA): the column `asks_for` says which of the two is asked
for, so that the same premise can have both questions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from disorder.errors import BadData
from disorder.registry import task
from disorder.tasks import TaskRow, column
from disorder.tasks.choice import ANSWER, answer_of
from disorder.tasks.layouts import OPTIONS
from disorder.types import Segment

PREMISE = ("question", "premise")
ASKED = ("asks_for",)
WORDS = {"cause": "What was the cause?", "effect": "What happened as a result?"}


@task(columns=(PREMISE, ASKED, OPTIONS, ANSWER), scored="choice", title="cause or effect")
def causes(row: Mapping[str, Any]) -> TaskRow:
    """A premise and two sentences, of which one is its cause or its effect."""
    asked = str(column(row, ASKED))
    if asked not in WORDS:
        raise BadData(f"asks_for is {asked!r}; it is cause or effect")
    written = answer_of(column(row, OPTIONS), column(row, ANSWER))
    premise = str(column(row, PREMISE))
    segments: dict[str, Segment] = {
        "question": premise,
        "ask": WORDS[asked],
        "options": written.options,
    }
    return TaskRow(segments, written)
