"""Where are blocks asked? On this machine, or by workers on a Ray cluster: the same blocks, the same answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

from disorder.errors import UnknownName

Task = TypeVar("Task")
Result = TypeVar("Result")


class Engine(Protocol):
    """Runs a worker over tasks; results may come in any order."""

    def __call__(self, make: Callable[[], Callable[[Task], Result]], tasks: Iterable[Task]) -> Iterator[Result]:
        """Make workers and run the tasks with them."""


def engine(name: str, *, address: str | None = None, workers: int | None = None) -> Engine:
    """The engine of that name."""
    if name == "local":
        from disorder.engine.local import Local

        return Local()
    if name == "ray":
        from disorder.engine.ray import Ray

        return Ray(address, workers)
    raise UnknownName("engine", name, ("local", "ray"))
