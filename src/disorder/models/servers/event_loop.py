"""An event loop in a thread of its own: requests run side by side while the caller, who may be in a
notebook with a loop already, takes answers one by one as they come.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from queue import SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")


class EventLoop:
    """A loop that lives as long as its owner; connections stay open from call to call."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self, work: Coroutine[Any, Any, R]) -> R:
        """Run one piece of work to its end; interrupted, it is cancelled."""
        future = asyncio.run_coroutine_threadsafe(work, self._running())
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def as_they_come(
        self, work: Callable[[T], Awaitable[R]], given: Sequence[T], *, at_once: int
    ) -> Iterator[tuple[int, R]]:
        """Number and result of each piece of work, in the order in which they end.

        The first that fails stops the others, after everything that had ended was given out.
        """
        done: SimpleQueue[tuple[int, R] | None] = SimpleQueue()

        async def everything() -> None:
            numbers = iter(range(len(given)))

            async def worker() -> None:
                for i in numbers:
                    done.put((i, await work(given[i])))

            try:
                async with asyncio.TaskGroup() as group:
                    for _ in range(min(at_once, len(given))):
                        group.create_task(worker())
            finally:
                done.put(None)

        future = asyncio.run_coroutine_threadsafe(everything(), self._running())
        try:
            while (item := done.get()) is not None:
                yield item
            future.result()
        except BaseExceptionGroup as failures:
            raise failures.exceptions[0] from None
        finally:
            future.cancel()

    def _running(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            threading.Thread(target=self._loop.run_forever, name="requests", daemon=True).start()
        return self._loop

    def __reduce__(self) -> tuple[Any, ...]:
        """A worker elsewhere starts its own."""
        return EventLoop, ()
