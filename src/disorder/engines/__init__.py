"""Engines: where blocks are run. On this machine, or by workers on a Ray cluster: the same blocks,
the same results.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol


class Engine(Protocol):
    """Runs workers over tasks; results may come in any order."""

    def __call__(self, tasks: Iterable[Any]) -> Iterator[Any]:
        """Run the tasks."""

    def close(self) -> None:
        """Release the workers."""
