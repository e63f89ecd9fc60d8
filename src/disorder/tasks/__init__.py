"""Tasks: forms of data other than texts with fixed labels, one file each.

A task is recognised by the columns of the data, or named by `--task`. Its function makes a
`TaskRow` of a row; what is scored and what chance is follow from its declaration.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from string import ascii_uppercase
from typing import Any

from disorder.errors import BadData, option
from disorder.registry import TaskPart, parts
from disorder.types import Segments

LETTERS = tuple(ascii_uppercase)
NO_ANSWER = ("", "-1", "-", "none", "nan")


@dataclass(frozen=True)
class TaskRow:
    """What a row asks, as named segments, and the place of the right one of its options (or 0: the
    first of two texts is the better one). `answer` None: the row has no gold answer. `on` names
    what is perturbed unless the user says otherwise.
    """

    segments: Segments
    answer: int | None = None
    on: tuple[str, ...] = ("question",)
    groups: Mapping[str, str] = field(default_factory=dict)


def recognised(row: Mapping[str, Any]) -> TaskPart | None:
    """The task that the columns of a row show: the one with most columns of those that fit.

    Raises where two fit that want different columns.
    """
    fitting = [entry for entry in parts(TaskPart).values() if fits(entry, row)]
    if not fitting:
        return None
    largest = max(fitting, key=lambda entry: len(entry.columns))
    wanted = {name for name in row if _is_of(largest, name)}
    others = [entry for entry in fitting if not {n for n in row if _is_of(entry, n)} <= wanted]
    if others:
        either = f"{option('task', largest.name)} or {option('task', others[0].name)}"
        raise BadData(f"the columns can be read in two ways; say which: {either}")
    return largest


def fits(entry: TaskPart, row: Mapping[str, Any]) -> bool:
    """Whether a row has every column that shows this task."""
    return all(any(name in row for name in names) for names in entry.columns)


def column(row: Mapping[str, Any], names: Sequence[str]) -> Any:
    """The value of the first of these columns that a row has."""
    return next((row[name] for name in names if name in row), None)


def said(entry: TaskPart, row: Mapping[str, Any]) -> str:
    """What was recognised, for a message."""
    used = [next(name for name in names if name in row) for names in entry.columns]
    return (
        f"{entry.title}: read from the columns {', '.join(used)} ({option('task')} says otherwise)"
    )


def _is_of(entry: TaskPart, name: str) -> bool:
    return any(name in names for names in entry.columns)
