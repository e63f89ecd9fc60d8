"""The local server: it prints its address, says in one line why it cannot listen, and ends cleanly
on Ctrl-C.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from disorder.errors import DisorderError, MissingPackage
from disorder.web.access_control import ASGI, AccessControl, TokenCheck, is_loopback
from disorder.web.slow_clients import QuietLog, guarded_protocol

if TYPE_CHECKING:
    from fastapi import FastAPI

PACKAGES = ("fastapi", "uvicorn")
BACKLOG = 128  # connections that are accepted at a time: each takes an open file


def require_web(part: str, *more: str) -> None:
    """Raise when a package that the pages need is not installed."""
    for package in (*PACKAGES, *more):
        if importlib.util.find_spec(package) is None:
            raise MissingPackage(part, package, "web")


def new_app() -> FastAPI:
    """An application without the extra pages of FastAPI, whose errors are plain text."""
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
        wrong = {str(part) for entry in error.errors() for part in entry["loc"][1:]}
        return PlainTextResponse(f"cannot be read: {', '.join(sorted(wrong))}\n", status_code=422)

    async def mistake(request: Request, error: Any) -> PlainTextResponse:
        return PlainTextResponse(f"{error}\n", status_code=400)

    app.add_exception_handler(HTTPException, plain)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(DisorderError, mistake)
    return app


def serve(
    app: ASGI,
    say: Callable[[str], None],
    *,
    host: str = "127.0.0.1",
    port: int = 8765,
    is_good: TokenCheck | None = None,
    token: str | None = None,
    name: str = "disorder view",
    is_opened: bool = False,
    links: Mapping[str, str] | None = None,
    hint: str = AccessControl.hint,
) -> None:
    """Serve `app` behind access control until Ctrl-C; port 0 takes a free one.

    `say` prints a line; `token` is part of the printed address; `is_good` decides which tokens are
    let in (see `AccessControl`). `links` prints a personal address for each name and token instead;
    `hint` tells a visitor without a good token what to do.
    """
    import uvicorn

    if not is_loopback(host) and is_good is None:
        raise DisorderError(
            f"{name}: --host {host} can be reached from other machines, which needs a token"
        )
    listening = listen(host, port)
    bound_port = listening.getsockname()[1]
    url = address(host, bound_port, token)
    _log_to_terminal()
    say(f"{name}: one personal link per annotator" if links else f"{name}: {url}")
    for person, personal_token in (links or {}).items():
        say(f"  {person}: {address(host, bound_port, personal_token)}")
    say("Press Ctrl-C to stop.")
    if is_opened:
        threading.Timer(0.5, webbrowser.open, [url]).start()
    config = uvicorn.Config(
        AccessControl(app, host, is_good, hint=hint),
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=2,
        ws="none",
        http=guarded_protocol(),
        backlog=BACKLOG,
    )
    try:
        with suppress(KeyboardInterrupt):  # raised or not, depending on when the signal arrives
            uvicorn.Server(config).run(sockets=[listening])
    finally:
        listening.close()
    say("stopped")


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens on this address, or an error that says why there is none."""
    bare = host.strip("[]")
    family = socket.AF_INET6 if ":" in bare else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    if os.name != "nt":
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((bare, port))
        # before the address is printed: a browser that comes at once waits for the server
        listening.listen(BACKLOG)
    except (OSError, OverflowError) as error:
        listening.close()
        raise DisorderError(_listen_problem(host, port, error)) from None
    return listening


def _listen_problem(host: str, port: int, error: Exception) -> str:
    why = getattr(error, "strerror", None) or str(error)
    if "in use" in why:
        return (
            f"port {port} is taken, perhaps by another disorder; "
            "choose another --port (0 takes a free one)"
        )
    return f"cannot listen on {host} port {port} ({why}); choose another --host or --port"


def address(host: str, port: int, token: str | None = None, path: str = "/") -> str:
    """What to type into a browser."""
    bare = host.strip("[]")
    name = socket.gethostname() if bare in ("0.0.0.0", "::", "") else bare
    if ":" in name:
        name = f"[{name}]"
    query = f"?token={token}" if token else ""
    return f"http://{name}:{port}{path}{query}"


def _log_to_terminal() -> None:
    """Write denied requests and our own failures to standard error, one line each."""
    logging.basicConfig(
        stream=sys.stderr,
        level=logging.WARNING,
        format="%(asctime)s %(message)s",
        datefmt="%H:%M:%S",
    )
    for handler in logging.getLogger().handlers:
        handler.addFilter(QuietLog())
