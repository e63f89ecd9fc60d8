"""Killed at random moments, every verb ends with the result of a run in one go.

Commands run in forked processes, so that a kill costs milliseconds and the moments are spread over
the work and not over imports.
"""

from __future__ import annotations

import faulthandler
import json
import os
import random
import shutil
import signal
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from faults.laboratory import note, samples_of, scores_of, size

pytestmark = [
    pytest.mark.laboratory,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"),
]
HANGS = 600.0  # seconds: a loaded machine is slow, not hung
Result = Any


@dataclass(frozen=True)
class Verb:
    """A command on OUT, what is typed after a kill, and what must be the same in the end."""

    words: list[str]
    result: Callable[[Path], Result]
    again: list[str] | None = None  # without one, the same command again
    marker: str = ""  # the file from which on `again` works


def json_of(name: str, *left_out: str) -> Callable[[Path], Result]:
    """A JSON file without what tells the time."""

    def read(folder: Path) -> Result:
        raw = json.loads((folder / name).read_text(encoding="utf-8"))
        if isinstance(raw, dict):
            for key in ("seconds", "started", *left_out):
                raw.pop(key, None)
        return raw

    return read


TRAIN = ["--model", "bow", "--limit", "60", "--set", "epochs=2"]
VERBS = {
    "audit": Verb(
        ["audit", "builtin:bow", "builtin", "--limit", "120", "--q", "8", "--out", "OUT"],
        lambda folder: (scores_of(folder), samples_of(folder)),
        ["audit", "--resume", "OUT"],
        "run.json",
    ),
    "perturb": Verb(
        ["perturb", "builtin", "--with", "derange", "--limit", "400", "--q", "8", "--out", "OUT/x"],
        lambda folder: (folder / "x").read_bytes(),
    ),
    "explain": Verb(
        ["explain", "builtin:bow", "builtin", "--by", "length", "--limit", "60", "--q", "5",
         "--out", "OUT"],
        json_of("explain.json"),
    ),
    "sanity": Verb(
        ["sanity", "builtin", "--check", "duplicates", "--limit", "300", "--out", "OUT"],
        json_of("sanity.json", "command"),
    ),
    "train": Verb(
        ["train", "plain", "builtin:nli:train", *TRAIN, "--set", "save_every=1", "--out", "OUT"],
        lambda folder: (folder / "weights.npz").read_bytes(),
        ["train", "--resume", "OUT"],
        "training.json",
    ),
    "designs": Verb(
        ["designs", "builtin:nli:train", "builtin", *TRAIN, "--on", "reverse", "--test-limit", "40",
         "--out", "OUT"],
        json_of("designs.json"),
    ),
    "mitigations": Verb(
        ["mitigations", "builtin:nli:train", "builtin", *TRAIN, "--recipe", "plain", "--recipe",
         "threshold", "--on", "reverse", "--seeds", "1", "--test-limit", "40", "--out", "OUT"],
        json_of("mitigations.json"),
    ),
    "study": Verb(
        ["study", "unli/table2", "builtin:bow", "builtin", "--limit", "40", "--q", "5",
         "--out", "OUT"],
        lambda folder: json_of("study.json")(folder)["cells"],
    ),
}  # fmt: skip


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """No charts: their process has tests of its own."""
    monkeypatch.setattr("disorder.report.charts.svg", lambda spec: "<svg/>")


def forked(words: list[str], log: Path) -> int:
    """Start a command in a forked process; gives its id."""
    pid = os.fork()
    if pid:
        return pid
    code = 70
    try:
        warnings.simplefilter("ignore")
        descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(descriptor, 1)
        os.dup2(descriptor, 2)
        sys.stdout = os.fdopen(1, "w", closefd=False)
        sys.stderr = os.fdopen(2, "w", closefd=False)
        faulthandler.dump_traceback_later(0.8 * HANGS, file=sys.stderr)  # where it hangs
        from disorder.cli import main

        main(words)
    except SystemExit as stopped:
        code = int(stopped.code or 0)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def ended(pid: int, patience: float) -> int | None:
    """The exit code of a process, None where it has not ended in time."""
    end = time.monotonic() + patience
    while True:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > end:
            return None
        time.sleep(0.002)


def killed(pid: int, after: float) -> bool:
    """Kill a process after a while; whether it was still running."""
    if ended(pid, after) is not None:
        return False
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return True


def finished_run(words: list[str], log: Path) -> float:
    """Run a command to its end; gives how long it took."""
    began = time.monotonic()
    code = ended(forked(words, log), HANGS)
    assert code == 0, log.read_text()
    assert "Traceback" not in log.read_text()
    return time.monotonic() - began


def typed(words: list[str], out: Path) -> list[str]:
    return [word.replace("OUT", str(out)) for word in words]


@pytest.mark.parametrize("name", VERBS)
def test_killed_at_random_moments(name: str, tmp_path: Path, quick: None) -> None:
    verb = VERBS[name]
    if name in ("train", "designs", "mitigations"):
        pytest.importorskip("torch", reason="needs torch")
    log = tmp_path / "log"
    finished_run(typed(verb.words, tmp_path / "warm"), log)  # what is loaded once
    seconds = finished_run(typed(verb.words, tmp_path / "whole"), log)
    expected = verb.result(tmp_path / "whole")
    draw = random.Random(name)
    n_kills = 0
    wanted = size(3, 30)
    for number in range(6 * wanted):
        out = tmp_path / "out"
        is_resumed = verb.again is not None and (out / verb.marker).exists()
        words = verb.again if is_resumed and verb.again is not None else verb.words
        if killed(forked(typed(words, out), log), draw.uniform(0, seconds)):
            n_kills += 1
            if n_kills % 3:  # up to three kills of one run, then it may end
                continue
            _finish(verb, out, log)
        assert "Traceback" not in log.read_text()
        assert verb.result(out) == expected, (name, number)
        shutil.rmtree(out)
        if n_kills >= wanted:
            break
    assert n_kills >= wanted
    note(f"kills: {name}", n_kills, survived=n_kills)


def _finish(verb: Verb, out: Path, log: Path) -> None:
    if verb.again is not None and (out / verb.marker).exists():
        finished_run(typed(verb.again, out), log)
    else:
        finished_run(typed(verb.words, out), log)


def test_a_clock_that_jumps_changes_no_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quick: None
) -> None:
    from disorder.verbs.audit import audit

    draw = random.Random(0)
    whole = audit("builtin:bow", "builtin", limit=30, q=4, out=tmp_path / "a", cache="off")
    monkeypatch.setattr(time, "time", lambda: draw.uniform(-1e9, 4e9))
    monkeypatch.setattr(time, "time_ns", lambda: int(draw.uniform(0, 4e18)))
    jumped = audit("builtin:bow", "builtin", limit=30, q=4, out=tmp_path / "b")
    assert jumped.scores == whole.scores
    note("clock changes", 1, survived=1)
