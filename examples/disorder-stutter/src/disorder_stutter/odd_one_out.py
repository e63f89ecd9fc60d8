"""A task: which of some words does not belong to the others?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from disorder.errors import BadData
from disorder.registry import task
from disorder.tasks import TaskRow


@task(columns=(("words",), ("odd",)), scored="choice", title="the odd one out")
def odd_one_out(row: Mapping[str, Any]) -> TaskRow:
    """A list of words, of which one does not belong to the others (`odd`)."""
    words = tuple(map(str, row["words"]))
    if row["odd"] not in words:
        raise BadData(f"{row['odd']!r} is none of the words")
    asked = "Which of these words does not belong to the others?"
    return TaskRow({"question": asked, "options": words}, words.index(row["odd"]))
