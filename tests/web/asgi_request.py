"""Requests to an ASGI application without an HTTP client: paths and headers arrive as written,
which a client would not allow.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote


@dataclass(frozen=True)
class AppResponse:
    """The response of an application."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode("utf-8")


def request(
    app: Any,
    target: str,
    *,
    method: str = "GET",
    host: str = "127.0.0.1:8765",
    body: bytes = b"",
    **headers: str,
) -> AppResponse:
    """Send one request; underscores in the names of headers stand for hyphens."""
    path, _, query = target.partition("?")
    given: Mapping[str, str] = {
        "host": host,
        **({"content-length": str(len(body))} if body else {}),
        **headers,
    }
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": unquote(path),
        "raw_path": path.encode("latin-1"),
        "query_string": query.encode("latin-1"),
        "root_path": "",
        "headers": [
            (name.replace("_", "-").encode(), value.encode("latin-1"))
            for name, value in given.items()
            if value
        ],
        "client": ("127.0.0.1", 50000),
        "server": ("127.0.0.1", 8765),
    }
    sent: list[Any] = []

    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Any:
        if not waiting:
            await asyncio.Event().wait()  # the client keeps the connection open
        return waiting.pop()

    async def send(message: Any) -> None:
        sent.append(message)

    async def run() -> None:
        await app(scope, receive, send)

    asyncio.run(run())
    start = next(message for message in sent if message["type"] == "http.response.start")
    content = b"".join(
        message.get("body", b"") for message in sent if message["type"] == "http.response.body"
    )
    found = {name.decode().lower(): value.decode("latin-1") for name, value in start["headers"]}
    return AppResponse(start["status"], found, content)
