"""Tasks: what a dataset's labels are, known by name or guessed from the labels of a file."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

from disorder.data.builtin import TASKS
from disorder.registry import DataPart, parts
from disorder.types import Task

QUESTION_ANSWERING = "squad2"


def known_tasks() -> dict[str, Task]:
    """Every task that registered data declares, by name; those of the built-in data first."""
    entries = [entry for entry in parts(DataPart).values() if entry.name != "builtin"]
    of_named_sets = [entry.task_for("") for entry in entries if entry.splits]
    of_other_data = [entry.task_for("") for entry in entries if not entry.splits]
    tasks = [*TASKS.values(), *of_named_sets, *of_other_data]
    return {task.name: task for task in tasks if task is not None}


def guess_task(
    name: str, labels: Iterable[str], *, is_pair: bool, is_question: bool = False
) -> Task:
    """A task for a file: that of a known set with the same labels, else one that only knows its
    labels.
    """
    found = sorted(set(labels))
    tasks = known_tasks()
    if is_question and set(found) <= set(tasks[QUESTION_ANSWERING].labels):
        # the question is what is perturbed; one label alone may be there
        return replace(tasks[QUESTION_ANSWERING], name=name)
    breaks: Literal["a", "b"] = "b" if is_pair else "a"
    if _are_numbers(found):
        return Task(name, (), breaks)
    for known in tasks.values():
        if known.labels and set(found) <= set(known.labels) and len(found) > 1:
            return replace(known, name=name, breaks=breaks)
    return Task(name, tuple(found), breaks)


def _are_numbers(labels: list[str]) -> bool:
    """Whether labels are numbers that name no classes: one of them is no whole number."""
    if not labels or not all(map(is_number, labels)):
        return False
    return any(float(label) % 1 for label in labels)


def same_number_twice(labels: Iterable[str]) -> tuple[str, str] | None:
    """Two labels that are one number, such as 1 and 1.0."""
    seen: dict[float, str] = {}
    for label in labels:
        if is_number(label) and seen.setdefault(float(label), label) != label:
            return seen[float(label)], label
    return None


def is_number(label: str) -> bool:
    """Whether a label is a finite number."""
    try:
        return math.isfinite(float(label))
    except ValueError:
        return False
