"""Requests side by side in a thread with an event loop of its own: the caller, who may be in a
notebook with a loop already, takes answers one by one as they come.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from functools import partial
from queue import SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")
Connections = AbstractAsyncContextManager[Any]  # opened before the first request, closed at the end


def run(work: Coroutine[Any, Any, R], *, inside: Connections) -> R:
    """Run one piece of work to its end, in a thread, and give its result."""
    found: list[R] = []

    async def keep() -> None:
        async with inside:
            found.append(await work)

    thread = _LoopThread(keep)
    thread.start()
    try:
        thread.join()
    finally:
        thread.stop()
    if thread.error is not None:
        raise thread.error
    return found[0]


def as_they_come(
    work: Callable[[T], Awaitable[R]], given: Sequence[T], *, at_once: int, inside: Connections
) -> Iterator[tuple[int, R]]:
    """Number and result of each piece of work as they end; the first that fails stops the others. A
    worker goes on only when its last result was taken, so that few can be lost.
    """
    done: SimpleQueue[tuple[int, R, Callable[[], object]] | None] = SimpleQueue()
    numbers = iter(range(len(given)))

    async def worker() -> None:
        loop = asyncio.get_running_loop()
        for i in numbers:
            result = await work(given[i])
            taken = asyncio.Event()
            done.put((i, result, partial(loop.call_soon_threadsafe, taken.set)))
            await taken.wait()

    async def everything() -> None:
        async with inside, asyncio.TaskGroup() as group:
            for _ in range(min(at_once, len(given))):
                group.create_task(worker())

    thread = _LoopThread(everything, at_end=lambda: done.put(None))
    thread.start()
    try:
        while (item := done.get()) is not None:
            number, result, take = item
            yield number, result
            with suppress(RuntimeError):  # the loop ended, since another piece of work failed
                take()
    finally:
        thread.stop()
    if thread.error is not None:
        raise thread.error


class _LoopThread(threading.Thread):
    """A thread that runs one coroutine; what it raises is kept in `error`."""

    def __init__(
        self,
        main: Callable[[], Coroutine[Any, Any, None]],
        at_end: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(name="requests", daemon=True)
        self.error: BaseException | None = None
        self._main = main
        self._at_end = at_end
        self._task: asyncio.Task[Any] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self) -> None:
        """Run it to its end, or until it is stopped."""
        try:
            asyncio.run(self._watched())
        except asyncio.CancelledError:
            return
        except BaseExceptionGroup as failures:
            self.error = failures.exceptions[0]
        except BaseException as error:  # raised again in the thread of the caller
            self.error = error
        finally:
            if self._at_end is not None:
                self._at_end()

    async def _watched(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()
        await self._main()

    def stop(self) -> None:
        """Cancel what is under way and wait until connections are closed."""
        if self.is_alive() and self._loop is not None and self._task is not None:
            with suppress(RuntimeError):  # it ended in this moment
                self._loop.call_soon_threadsafe(self._task.cancel)
        self.join()
