"""An engine: blocks in threads of this process, for models that wait for something else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import local
from typing import Any

from disorder.registry import engine


@engine(name="threads")
class ThreadsEngine:
    """Runs blocks in threads, each with a worker of its own."""

    def __init__(
        self, make: Callable[[], Callable[[Any], Any]], address: str | None, workers: int | None
    ) -> None:
        self.make = make
        self.own = local()
        self.pool = ThreadPoolExecutor(workers or 2)

    def __call__(self, tasks: Iterable[Any]) -> Iterator[Any]:
        """Run the tasks; results come in their order."""
        return self.pool.map(self._run, tasks)

    def _run(self, task: Any) -> Any:
        if not hasattr(self.own, "worker"):
            self.own.worker = self.make()
        return self.own.worker(task)

    def close(self) -> None:
        """Release the threads."""
        self.pool.shutdown()
