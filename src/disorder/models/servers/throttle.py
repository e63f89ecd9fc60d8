"""The throttle: how many requests may be under way at once, and when the next may go.

Halved when the server says that it is too much (429, 503), raised by one after as many successes as
there are connections.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Throttle:
    """A limit on requests under way that follows what the server can take."""

    def __init__(self, most: int, allowed: int | None = None) -> None:
        self.most = most
        self.allowed = most if allowed is None else allowed
        self.fewest = self.allowed  # the smallest limit so far
        self._under_way = 0
        self._successes = 0
        self._open_at = 0.0
        self._changed = asyncio.Condition()

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Wait for a place among the requests under way."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._under_way < self.allowed)
            self._under_way += 1
        try:
            await self._wait_for_opening()
            yield
        finally:
            async with self._changed:
                self._under_way -= 1
                self._changed.notify()

    async def _wait_for_opening(self) -> None:
        """Nobody sends while the server asked for a pause."""
        loop = asyncio.get_running_loop()
        while (left := self._open_at - loop.time()) > 0:
            await asyncio.sleep(left)

    def slow_down(self, seconds: float) -> None:
        """The server is overloaded: half as many requests, and none for so many seconds."""
        opens = asyncio.get_running_loop().time() + seconds
        if opens > self._open_at:
            if self._open_at <= opens - seconds:  # one halving for all that failed together
                self.allowed = max(1, self.allowed // 2)
                self.fewest = min(self.fewest, self.allowed)
            self._open_at = opens
        self._successes = 0

    def succeeded(self) -> None:
        """A request went through."""
        self._successes += 1
        if self.allowed < self.most and self._successes >= self.allowed:
            self.allowed += 1
            self._successes = 0
