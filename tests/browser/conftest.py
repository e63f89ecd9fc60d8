"""A real Chromium before real servers. Tests here are marked `browser`: `make test-browser` runs
them, `make test` does not.

`page` is a fresh browser profile that can reach this machine only; what it asked of elsewhere, and
what went wrong in it, fails the test. `serve` starts `disorder …` on a free port.
`assert_accessible` runs axe.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, Queue
from typing import Any
from urllib.parse import urlsplit

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
HERE = Path(__file__).parent
PATIENCE = 60  # seconds that a server may take to start, or a page to show what it will show


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Debian's Chromium, driven by Playwright; nothing is downloaded."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=1_000 * PATIENCE)
    path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if path is None:
        pytest.fail("needs Chromium: make test-browser installs it")
    with sync_playwright() as playwright:
        sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
        started = playwright.chromium.launch(executable_path=path, args=["--disable-gpu", *sandbox])
        yield started
        started.close()


@dataclass
class Seen:
    """What a page did beside what the test asked of it. A test that provokes an error clears the
    list.
    """

    elsewhere: list[str] = field(
        default_factory=list
    )  # requests to other machines; they were stopped
    errors: list[str] = field(
        default_factory=list
    )  # uncaught exceptions, and errors on the console (also those of the CSP)
    requests: list[str] = field(default_factory=list)


@pytest.fixture
def seen() -> Seen:
    return Seen()


@pytest.fixture
def new_page(
    browser: Any, seen: Seen, serve: Callable[..., Server]
) -> Iterator[Callable[..., Any]]:
    """Make a page with a profile of its own: `new_page(width=390)`; several stand for several
    people.

    It needs `serve` only so that pages close before the servers that they still ask.
    """
    contexts = []

    def make(*, width: int = 1280, height: int = 900, **settings: Any) -> Any:
        context = browser.new_context(viewport={"width": width, "height": height}, **settings)
        context.set_default_timeout(1_000 * PATIENCE)
        contexts.append(context)
        context.route("**/*", lambda route: _let_through(route, seen))
        page = context.new_page()
        page.on("pageerror", lambda error: seen.errors.append(str(error)))
        page.on(
            "console", lambda line: seen.errors.append(line.text) if line.type == "error" else None
        )
        return page

    yield make
    for context in contexts:
        context.close()
    assert seen.elsewhere == []
    assert seen.errors == []


@pytest.fixture
def page(new_page: Callable[..., Any]) -> Any:
    """One page, 1280 × 900."""
    return new_page()


def _let_through(route: Any, seen: Seen) -> None:
    url = route.request.url
    seen.requests.append(url)
    if urlsplit(url).scheme in ("http", "https", "ws", "wss") and urlsplit(url).hostname not in (
        "127.0.0.1",
        "localhost",
    ):
        seen.elsewhere.append(url)
        route.abort()
    else:
        route.continue_()


@dataclass
class Server:
    """A running `disorder …` server."""

    process: subprocess.Popen[str]
    address: str  # as printed, with the token if there is one
    lines: list[str]  # what it wrote so far, both streams
    reader: threading.Thread | None = None

    @property
    def url(self) -> str:
        """The address without path and token."""
        parts = urlsplit(self.address)
        return f"{parts.scheme}://{parts.netloc}"

    def stop(self) -> int:
        """End it as Ctrl-C would, and give its exit code."""
        import signal

        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(timeout=PATIENCE)
        assert self.reader is not None
        self.reader.join(timeout=PATIENCE)  # its last words
        return code

    def kill(self) -> None:
        """End it as a crash would."""
        self.process.kill()
        self.process.wait(timeout=PATIENCE)


@pytest.fixture
def serve() -> Iterator[Callable[..., Server]]:
    """Start a server: `serve("view", folder)` runs `disorder view FOLDER --port 0` until it says
    where it is.
    """
    started: list[Server] = []

    def start(*words: object, port: int = 0) -> Server:
        command = [sys.executable, "-m", "disorder", *map(str, words), "--port", str(port)]
        environment = os.environ | {"PYTHONUNBUFFERED": "1"}
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            env=environment,
        )
        server = Server(process, "", [])
        started.append(server)
        server.address = _first_address(server)
        return server

    yield start
    for server in started:
        if server.process.poll() is None:
            server.kill()
        assert server.process.stdout is not None
        server.process.stdout.close()


def _first_address(server: Server) -> str:
    """The first address that a server prints; later lines are read too, or it would stall."""
    found: Queue[str] = Queue()

    def read() -> None:
        assert server.process.stdout is not None
        for line in server.process.stdout:
            server.lines.append(line.rstrip("\n"))
            if matched := re.search(r"https?://\S+", line):
                found.put(matched[0])

    reader = server.reader = threading.Thread(target=read, daemon=True)
    reader.start()
    for _ in range(PATIENCE * 10):
        try:
            return found.get(timeout=0.1)
        except Empty:
            if server.process.poll() is not None and not reader.is_alive() and found.empty():
                break
    pytest.fail("the server did not start:\n" + "\n".join(server.lines))


def assert_count(locator: Any, n: int) -> None:
    """So many elements are there, or come: after a click the next page takes a moment."""
    from playwright.sync_api import expect

    expect(locator).to_have_count(n)


@pytest.fixture
def assert_accessible() -> Callable[[Any], None]:
    """Run axe on what a page shows now; every violation is named with the element."""
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import Error

    axe = Axe()

    def check(page: Any) -> None:
        try:
            results = axe.run(page)
        except Error:  # a link was just followed, and its page came while axe looked at the last
            page.wait_for_load_state()
            results = axe.run(page)
        violations = results.response["violations"]
        lines = [
            f"{v['id']}: {v['help']}: {node['html'][:160]}"
            for v in violations
            for node in v["nodes"]
        ]
        assert not lines, "\n".join(lines)
        assert results.response["passes"], "axe looked at nothing"

    return check
