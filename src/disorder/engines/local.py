"""The local engine: blocks one after another in this process; the model's threads use the cores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from disorder.registry import engine


@engine(name="local")
class LocalEngine:
    """The engine that needs nothing."""

    def __init__(
        self, make: Callable[[], Callable[[Any], Any]], address: str | None, workers: int | None
    ) -> None:
        self.worker = make()

    def __call__(self, tasks: Iterable[Any]) -> Iterator[Any]:
        """Run the tasks in order."""
        for task in tasks:
            yield self.worker(task)

    def close(self) -> None:
        """Nothing to release."""
