"""Slow and half-sent requests: they get a time limit, and never take the place of an honest user.

A connection that has not sent its request in time is closed, as is one that does not read its
answer. Above a number of connections the one that has kept us waiting longest goes first.
"""

from __future__ import annotations

import logging
import time
from typing import Any

REQUEST_SECONDS = 10.0  # to send a request, headers and body
ANSWER_SECONDS = 60.0  # without reading any of an answer
MAX_CONNECTIONS = 256
LOG_SECONDS = 10.0
LOG_LINES = 20  # within that time


def guarded_protocol() -> Any:
    """uvicorn's HTTP/1.1 connection with the limits of this module."""
    import h11
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class GuardedConnection(H11Protocol):
        """One connection of a browser, or of somebody who means to keep us busy."""

        def __init__(self, *given: Any, **more: Any) -> None:
            super().__init__(*given, **more)
            self.waits_since: float | None = None
            self._deadline: Any = None
            self._unread: Any = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._expect_request()
            if len(self.connections) > most_connections():
                _close_slowest(self.connections, self)

        def data_received(self, data: bytes) -> None:
            if self.waits_since is None:
                self._expect_request()
            super().data_received(data)
            if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
                self._request_is_here()

        def connection_lost(self, exc: Exception | None) -> None:
            self._request_is_here()
            self._stop_unread()
            super().connection_lost(exc)

        def pause_writing(self) -> None:
            self._stop_unread()
            self._unread = self.loop.call_later(ANSWER_SECONDS, self.drop)
            super().pause_writing()

        def resume_writing(self) -> None:
            self._stop_unread()
            super().resume_writing()

        def drop(self) -> None:
            """Close at once; nothing is sent any more."""
            self.connections.discard(self)
            self.transport.abort()

        def _expect_request(self) -> None:
            self.waits_since = time.monotonic()
            self._deadline = self.loop.call_later(REQUEST_SECONDS, self.drop)

        def _request_is_here(self) -> None:
            self.waits_since = None
            if self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None

        def _stop_unread(self) -> None:
            if self._unread is not None:
                self._unread.cancel()
                self._unread = None

    return GuardedConnection


def most_connections() -> int:
    """How many connections are kept: fewer where the system allows few open files."""
    try:
        import resource
    except ImportError:  # Windows
        return MAX_CONNECTIONS
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MAX_CONNECTIONS if allowed < 0 else max(8, min(MAX_CONNECTIONS, allowed // 3))


def _close_slowest(connections: Any, newest: Any) -> None:
    waiting = [one for one in connections if one.waits_since is not None and one is not newest]
    slowest = min(waiting, key=lambda one: one.waits_since, default=newest)
    slowest.drop()


class QuietLog(logging.Filter):
    """Lets a few lines through in a while, then only counts them: no visitor can fill the disk."""

    def __init__(self) -> None:
        super().__init__()
        self._began = float("-inf")
        self._n_lines = 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a line is written."""
        now = time.monotonic()
        if now - self._began > LOG_SECONDS:
            left_out = max(0, self._n_lines - LOG_LINES)
            self._began = now
            self._n_lines = 0
            if left_out:
                record.msg = f"{record.getMessage()} (and {left_out:,} lines before it left out)"
                record.args = ()
        self._n_lines += 1
        return self._n_lines <= LOG_LINES
