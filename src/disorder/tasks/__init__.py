"""Tasks: forms of data other than texts with fixed labels, one file each.

A task is recognised by the columns of the data, or named by `--task`. Its function makes a
`TaskRow` of a row; what is scored and what chance is follow from its declaration. Names of columns
are compared without case, spaces and underscores, and `layouts` gathers what tables spread.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from string import ascii_uppercase
from typing import Any

from disorder.errors import BadData, option
from disorder.registry import TaskPart, parts
from disorder.types import Segments, listed_segment

LETTERS = tuple(ascii_uppercase)


@dataclass(frozen=True)
class Written:
    """An answer as the data spells it: what it means is seen from all rows together.

    `names` are what it may call the options by; `is_text` says whether it can be the text of one.
    """

    value: str
    options: tuple[str, ...]
    names: tuple[str, ...]
    is_text: bool = True
    where: str = ""
    first: int | None = None  # what places count from, where the name of its column says so


@dataclass(frozen=True)
class TaskRow:
    """What a row asks, as named segments, and the place of the right one of its options (or 0: the
    first of two texts is the better one). `answer` None: the row has no gold answer. `on` names
    what is perturbed unless the user says otherwise. `documents` are those that are ranked, by
    id. Rows of one `family` are not independent; without a name that is found out.
    """

    segments: Segments
    answer: int | Written | None = None
    on: tuple[str, ...] = ("question",)
    groups: Mapping[str, str] = field(default_factory=dict)
    documents: Mapping[str, str] = field(default_factory=dict)
    family: str = ""


def recognised(row: Mapping[str, Any]) -> TaskPart | None:
    """The task that the columns of a row show: the one with most columns of those that fit.

    Raises where two fit that want different columns.
    """
    fitting = [entry for entry in parts(TaskPart).values() if fits(entry, row)]
    if not fitting:
        return None
    largest = max(fitting, key=lambda entry: len(entry.columns))
    wanted = set(columns_of(largest, row))
    others = [entry for entry in fitting if not set(columns_of(entry, row)) <= wanted]
    if others:
        either = f"{option('task', largest.name)} or {option('task', others[0].name)}"
        raise BadData(f"the columns can be read in two ways; say which: {either}")
    return largest


def fits(entry: TaskPart, row: Mapping[str, Any]) -> bool:
    """Whether a row has every column that shows this task."""
    return all(name_in(row, names) is not None for names in entry.columns)


def columns_of(entry: TaskPart, row: Mapping[str, Any]) -> list[str]:
    """The columns of a row that a task takes."""
    return [name for names in entry.columns if (name := name_in(row, names)) is not None]


def said(entry: TaskPart, row: Mapping[str, Any], rows: Sequence[TaskRow], way: str) -> str:
    """What was recognised, in one line for a message."""
    names = columns_of(entry, row)
    counts = sorted({len(listed_segment(each.segments, "options")) for each in rows})
    if entry.scored == "choice":
        span = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else f"{counts[0]}"
        by = f" by {way}" if way else ""
        names = [*names[:-2], f"{span} options", f"{names[-1]}{by}"]
    return f"{entry.title}: {', '.join(names)} ({option('task')} says otherwise)"


def column(row: Mapping[str, Any], names: Sequence[str]) -> Any:
    """The value of the first of these columns that a row has."""
    name = name_in(row, names)
    return None if name is None else row[name]


def name_in(row: Mapping[str, Any], names: Sequence[str]) -> str | None:
    """The first of some names that a row has a column of, as the row writes it.

    >>> name_in({"Correct Answer": "B"}, ("answer", "correct_answer"))
    'Correct Answer'
    """
    return next(iter(names_in(row, names)), None)


def names_in(row: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """All of them, the first one first; one that is spelled exactly so before others."""
    spelled: dict[str, str] = {}
    for name in row:
        if isinstance(name, str):
            spelled.setdefault(folded(name), name)
    found = (name if name in row else spelled.get(folded(name)) for name in names)
    return list(dict.fromkeys(name for name in found if name is not None))


@lru_cache(maxsize=4096)
def folded(name: str) -> str:
    """The name of a column without case, spaces and underscores."""
    return re.sub(r"[\W_]+", "", name).casefold()
