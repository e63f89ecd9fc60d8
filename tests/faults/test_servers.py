"""Servers under slow, half-sent and hostile requests: one honest user does not notice, no log
grows, and no answer that was acknowledged is lost.
"""

from __future__ import annotations

import http.client
import logging
import os
import random
import re
import resource
import signal
import socket
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

import pytest

from disorder.verbs.human.answer_store import AnswerStore, StaleAnswer
from disorder.web.slow_clients import LOG_LINES, QuietLog
from faults.laboratory import IS_FULL, PATIENCE, note, size

pytest.importorskip("uvicorn", reason="needs uvicorn")
pytest.importorskip("duckdb", reason="needs duckdb")


@dataclass
class Server:
    """A server in a forked process, and the lines it printed until it listened."""

    pid: int
    lines: list[str]

    @property
    def port(self) -> int:
        found = re.search(r"http://127\.0\.0\.1:(\d+)", "\n".join(self.lines))
        assert found is not None, self.lines
        return int(found[1])

    @property
    def is_alive(self) -> bool:
        return os.waitpid(self.pid, os.WNOHANG) == (0, 0)

    def kill(self) -> None:
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)


@contextmanager
def server(*words: object, log: Path) -> Iterator[Server]:
    """Serve in a forked process, which need not import anything."""
    from disorder.web import annotation_app, viewer_app  # noqa: F401

    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        _serve([*map(str, words), "--port", "0"], writing, log)
    os.close(writing)
    found = Server(pid, [])
    try:
        with os.fdopen(reading, encoding="utf-8") as printed:
            while not found.lines or "Ctrl-C" not in found.lines[-1]:
                line = printed.readline()
                assert line, log.read_text()
                found.lines.append(line.strip())
            yield found
    finally:
        found.kill()


def _serve(words: list[str], writing: int, log: Path) -> None:
    try:
        warnings.simplefilter("ignore")
        os.dup2(writing, 1)
        os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
        sys.stdout = os.fdopen(1, "w", buffering=1, closefd=False)
        sys.stderr = os.fdopen(2, "w", buffering=1, closefd=False)
        from disorder.cli import main

        main(words)
    finally:
        os._exit(0)


def get(port: int, path: str = "/", **headers: str) -> tuple[int, float]:
    """The status of one request, and how long it took."""
    began = time.monotonic()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request("GET", path, headers=headers)
        return connection.getresponse().status, time.monotonic() - began
    finally:
        connection.close()


def test_slow_clients_keep_no_honest_user_waiting(finished: Path, tmp_path: Path) -> None:
    """More half-sent requests than the server keeps connections, some dribbling on."""
    n_slow = size(400, 1_200)
    log = tmp_path / "log"
    with server("view", finished.parent, log=log) as viewer:
        port = viewer.port
        assert get(port)[0] == 200
        slow = []
        for i in range(n_slow):
            one = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
            one.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: " + b"a" * (i % 50))
            slow.append(one)
        times = []
        draw = random.Random(0)
        for _ in range(size(20, 100)):
            for one in draw.sample(slow, 20):
                with suppress(OSError):
                    one.sendall(b"b")
            status, seconds = get(port)
            assert status == 200
            times.append(seconds)
        for one in slow:
            one.close()
        times.sort()
        p95 = times[int(0.95 * len(times))]
        assert viewer.is_alive
        if IS_FULL:  # measured on a machine that does nothing else
            assert p95 < 1.0, times
    assert log.stat().st_size < 20_000
    note("slow connections", n_slow, survived=n_slow, what=f"p95 of an honest user {p95:.2f} s")


def test_a_half_sent_request_is_closed(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("disorder.web.slow_clients.REQUEST_SECONDS", 0.3)
    with server("view", finished.parent, log=tmp_path / "log") as viewer:
        one = socket.create_connection(("127.0.0.1", viewer.port), timeout=PATIENCE)
        one.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        assert one.recv(100) == b""
        one.close()
        assert get(viewer.port)[0] == 200
        assert viewer.is_alive


@pytest.mark.parametrize("origin", ["http://[", "http://[::1", "//", "null", "http://evil.example"])
def test_an_odd_origin_is_denied(finished: Path, origin: str) -> None:
    from starlette.testclient import TestClient

    from disorder.web.access_control import AccessControl
    from disorder.web.viewer_app import viewer_app

    guarded = AccessControl(viewer_app(finished.parent))
    client = TestClient(guarded, base_url="http://127.0.0.1:8765")
    assert client.get("/").status_code == 200
    assert client.get("/", headers={"origin": origin}).status_code == 403


def test_the_log_says_how_much_it_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    quiet = QuietLog()
    clock = [100.0]
    monkeypatch.setattr("disorder.web.slow_clients.time.monotonic", lambda: clock[0])

    def line() -> logging.LogRecord:
        return logging.LogRecord("x", logging.WARNING, "", 0, "denied %s", ("you",), None)

    assert sum(quiet.filter(line()) for _ in range(1_000)) == LOG_LINES
    clock[0] += 60
    record = line()
    assert quiet.filter(record)
    assert record.getMessage() == "denied you (and 980 lines before it left out)"


class TestTwoTabs:
    def test_another_answer_to_an_attempt_is_said_not_to_be_kept(self, tmp_path: Path) -> None:
        store = AnswerStore(tmp_path)
        assert store.answer("a", "i1", 1, "yes", 1.0)
        assert not store.answer("a", "i1", 1, "yes", 1.0)  # sent again: it is there
        with pytest.raises(StaleAnswer, match="answered otherwise in another window"):
            store.answer("a", "i1", 1, "no", 1.0)
        assert [answer.answer for answer in store.answers("a")] == ["yes"]


def test_no_acknowledged_answer_is_lost_to_a_kill(tmp_path: Path) -> None:
    """The annotation server is killed at random moments; what it said it had kept is there."""
    from disorder.verbs import human

    human.make("builtin", tmp_path / "task", n=400, annotators=["ann"])
    draw = random.Random(3)
    kept: dict[str, str] = {}
    kills = size(2, 40)
    for _ in range(kills):
        with server("human", "serve", tmp_path / "task", log=tmp_path / "log") as served:
            token = re.search(r"token=([\w-]+)", "\n".join(served.lines))
            assert token is not None
            n_before = draw.randrange(1, 9)  # answers before the kill, which comes amid the next
            with suppress(OSError, http.client.HTTPException):
                for _ in range(n_before):
                    _answer_next(served.port, token[1], kept)
                killer = threading.Timer(draw.uniform(0, 0.02), served.kill)
                killer.start()
                while _answer_next(served.port, token[1], kept):
                    pass
            killer.join()
    stored = {
        answer.item: answer.answer for answer in AnswerStore(tmp_path / "task").answers("ann")
    }
    lost = [item for item, answer in kept.items() if stored.get(item) != answer]
    assert lost == []
    assert kept
    note("kills: human serve", kills, survived=kills, lost=len(lost), what=f"{len(kept)} answers")


def test_an_answer_that_finds_no_room_is_said_not_to_be_kept(tmp_path: Path) -> None:
    """The disk is full for a while: the page says so, and what was kept is there."""
    from disorder.verbs import human

    folder = tmp_path / "task"
    human.make("builtin", folder, n=40, annotators=["ann"])
    kept: dict[str, str] = {}
    with server("human", "serve", folder, log=tmp_path / "log") as served:
        found = re.search(r"token=([\w-]+)", "\n".join(served.lines))
        assert found is not None
        token = found[1]
        for _ in range(3):
            assert _answer_next(served.port, token, kept)
        form = _next_form(served.port, token)
        assert form is not None
        hard = resource.prlimit(served.pid, resource.RLIMIT_FSIZE)[1]
        resource.prlimit(served.pid, resource.RLIMIT_FSIZE, (1, hard))
        status, said = _request(served.port, token, "/answer", form)
        resource.prlimit(served.pid, resource.RLIMIT_FSIZE, (hard, hard))
        assert status != 303
        assert said.endswith("nothing was stored\n")
        for _ in range(3):
            assert _answer_next(served.port, token, kept)
    stored = {answer.item: answer.answer for answer in AnswerStore(folder).answers("ann")}
    assert stored == kept
    assert len(kept) == 6


def _answer_next(port: int, token: str, kept: dict[str, str]) -> bool:
    """Answer the item that is shown; it counts as kept once the server says so."""
    form = _next_form(port, token)
    if form is None:
        return False
    if _request(port, token, "/answer", form)[0] == 303:
        kept[form["item"]] = form["answer"]
    return True


def _next_form(port: int, token: str) -> dict[str, str] | None:
    """What the page of the next item would send for its first answer."""
    page = _request(port, token, "/item")[1]
    found = [
        re.search(rf'name="{name}" value="([^"]+)"', page) for name in ("item", "attempt", "answer")
    ]
    item, attempt, label = (value[1] if value else None for value in found)
    if item is None or attempt is None or label is None:
        return None
    return {"annotator": "ann", "item": item, "attempt": attempt, "answer": label, "seconds": "1"}


def _request(
    port: int, token: str, path: str, form: dict[str, str] | None = None
) -> tuple[int, str]:
    headers = {"Authorization": f"Bearer {token}"}
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        if form is None:
            connection.request("GET", path, headers=headers)
        else:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
            connection.request("POST", path, urlencode(form), headers)
        reply = connection.getresponse()
        return reply.status, reply.read().decode()
    finally:
        connection.close()


def test_a_chart_that_cannot_be_drawn_leaves_the_viewer_running(
    finished: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from starlette.testclient import TestClient

    from disorder.results import drawing
    from disorder.web.viewer_app import viewer_app

    monkeypatch.setattr(drawing, "CHILD", "import os; os.abort()")
    monkeypatch.setattr(drawing, "drawn_by_child", drawing.ChartProcess())
    client = TestClient(viewer_app(finished.parent), base_url="http://127.0.0.1")
    id = client.get("/").text.split('href="/run/')[1].split('"')[0].split("?")[0]
    answer = client.get(f"/run/{id}")
    assert answer.status_code == 200
    assert "could not be drawn" in answer.text
    assert client.get("/").status_code == 200
