"""Blocks asked one after another in this process; the model's own threads use the cores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


class Local:
    """The engine that needs nothing."""

    def __call__(self, make: Callable[[], Callable[[Task], Result]], tasks: Iterable[Task]) -> Iterator[Result]:
        """Run the tasks in order."""
        worker = make()
        for task in tasks:
            yield worker(task)
