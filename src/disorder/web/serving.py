"""How does a local server start and stop? One address printed, a clear line when it cannot listen,
a clean end on Ctrl-C.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import socket
import sys
import threading
import webbrowser
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from disorder.errors import DisorderError, MissingPackage
from disorder.web.guard import ASGI, Guard, IsGood, is_loopback

if TYPE_CHECKING:
    from fastapi import FastAPI

PACKAGES = ("fastapi", "uvicorn")


def require_web(part: str, *more: str) -> None:
    """Raise when a package that the pages need is not installed."""
    for package in (*PACKAGES, *more):
        if importlib.util.find_spec(package) is None:
            raise MissingPackage(part, package, "web")


def new_app() -> FastAPI:
    """An application without the pages that FastAPI adds, whose errors are plain text."""
    from fastapi import FastAPI, Request
    from fastapi.exceptions import RequestValidationError
    from fastapi.responses import PlainTextResponse
    from starlette.exceptions import HTTPException

    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)

    async def plain(request: Request, error: Any) -> PlainTextResponse:
        return PlainTextResponse(
            f"{error.detail}\n", status_code=error.status_code, headers=error.headers
        )

    async def invalid(request: Request, error: Any) -> PlainTextResponse:
        wrong = ", ".join(
            sorted({str(part) for entry in error.errors() for part in entry["loc"][1:]})
        )
        return PlainTextResponse(f"cannot be understood: {wrong}\n", status_code=422)

    async def mistake(request: Request, error: Any) -> PlainTextResponse:
        return PlainTextResponse(f"{error}\n", status_code=400)

    app.add_exception_handler(HTTPException, plain)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(DisorderError, mistake)
    return app


def serve(
    app: ASGI,
    *,
    host: str = "127.0.0.1",
    port: int = 8765,
    is_good: IsGood | None = None,
    token: str | None = None,
    name: str = "disorder view",
    is_opened: bool = False,
    links: Mapping[str, str] | None = None,
    hint: str = Guard.hint,
) -> None:
    """Serve `app` behind the guard until Ctrl-C; port 0 takes a free one.

    `token` is what the printed address carries; `is_good` decides which tokens are let in (see
    `Guard`). `links` prints a personal address for each name and token instead; `hint` is what
    somebody with no good token is told to do.
    """
    import uvicorn

    if not is_loopback(host) and is_good is None:
        raise DisorderError(
            f"{name}: --host {host} can be reached from other machines, which takes a token"
        )
    listening = listen(host, port)
    taken = listening.getsockname()[1]
    shown = address(host, taken, token)
    _log_to_terminal()
    _say(f"{name}: {shown}" if not links else f"{name}: a personal link for each")
    for who, personal in (links or {}).items():
        _say(f"  {who}: {address(host, taken, personal)}")
    _say("Ctrl-C stops it.")
    if is_opened:
        threading.Timer(0.5, webbrowser.open, [shown]).start()
    config = uvicorn.Config(
        Guard(app, host, is_good, hint=hint),
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=2,
        ws="none",
    )
    try:
        with suppress(KeyboardInterrupt):  # which comes, or does not, by when the signal was caught
            uvicorn.Server(config).run(sockets=[listening])
    finally:
        listening.close()
    _say("stopped")


def listen(host: str, port: int) -> socket.socket:
    """A socket on this address, or one line on why there is none."""
    bare = host.strip("[]")
    family = socket.AF_INET6 if ":" in bare else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    if os.name != "nt":
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((bare, port))
        # before the address is printed: who comes at once waits, and is not turned away
        listening.listen()
    except (OSError, OverflowError) as error:
        listening.close()
        raise DisorderError(_why_not(host, port, error)) from None
    return listening


def _why_not(host: str, port: int, error: Exception) -> str:
    why = getattr(error, "strerror", None) or str(error)
    if "in use" in why:
        return f"port {port} is taken, perhaps by another disorder; choose another --port (0 takes a free one)"
    return f"cannot listen on {host} port {port} ({why}); choose another --host or --port"


def address(host: str, port: int, token: str | None = None, path: str = "/") -> str:
    """What to type into a browser."""
    bare = host.strip("[]")
    name = socket.gethostname() if bare in ("0.0.0.0", "::", "") else bare
    shown = f"[{name}]" if ":" in name else name
    return f"http://{shown}:{port}{path}" + (f"?token={token}" if token else "")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _log_to_terminal() -> None:
    """Refusals and our own failures as lines on standard error."""
    logging.basicConfig(
        stream=sys.stderr,
        level=logging.WARNING,
        format="%(asctime)s %(message)s",
        datefmt="%H:%M:%S",
    )
