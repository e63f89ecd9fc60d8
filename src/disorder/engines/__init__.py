"""Engines: where blocks are run. On this machine, or by workers on a Ray cluster: the same blocks,
the same results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

from disorder.registry import EnginePart, part

Worker = Callable[[Any], Any]


class Engine(Protocol):
    """Runs workers over tasks; results may come in any order."""

    def __call__(self, tasks: Iterable[Any]) -> Iterator[Any]:
        """Run the tasks."""

    def close(self) -> None:
        """Release the workers."""


def engine(
    name: str, *, make: Callable[[], Worker], address: str | None = None, workers: int | None = None
) -> Engine:
    """The engine of that name; `make` makes a worker, once for each."""
    found: Engine = part(EnginePart, name).function(make, address, workers)
    return found
