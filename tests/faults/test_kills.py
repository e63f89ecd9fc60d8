"""Killed at random moments, every verb ends with the result of a run in one go."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from faults.forked import Ended, forked, preload
from faults.laboratory import disorder_command, environment, note, run, scores_of, size
from faults.verbs import LOG, VERBS, Verb

pytestmark = [
    pytest.mark.laboratory,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"),
]


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """No charts: their process has tests of its own."""
    monkeypatch.setattr("disorder.results.drawing.svg", lambda spec: "<svg/>")


def to_the_end(verb: Verb, out: Path, run: Path) -> float:
    """Run a command as a user would after a fault, or for the first time; gives its CPU time."""
    verb.prepare(out, run)
    log = out.parent / LOG
    ended = forked(verb.typed(out, run), log)
    told = log.read_text(encoding="utf-8", errors="replace")
    assert ended.code == 0, told
    assert "Traceback" not in told
    return ended.seconds


def killed(verb: Verb, out: Path, run: Path, after: float) -> Ended:
    verb.prepare(out, run)
    return forked(verb.typed(out, run), out.parent / LOG, dies_after=after)


@pytest.mark.parametrize("name", VERBS)
def test_killed_at_random_moments(
    name: str, finished: Path, tmp_path: Path, quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    verb = VERBS[name]
    if verb.needs_torch:
        pytest.importorskip("torch", reason="needs torch")
    monkeypatch.setenv("DISORDER_CACHE", str(tmp_path / "cache"))
    out = tmp_path / "out"
    verb.prepare(tmp_path / "warm", finished)
    preload(verb.typed(tmp_path / "warm", finished), tmp_path / "warm.log")
    seconds = to_the_end(verb, out, finished)
    expected = verb.result(out)
    _remove(out)
    draw = random.Random(name)
    n_kills = 0
    wanted = size(2, 16)
    for _ in range(10 * wanted):
        ended = killed(verb, out, finished, draw.uniform(0, seconds))
        if ended.code == -signal.SIGPROF:
            n_kills += 1
            if n_kills % 3 and n_kills < wanted:  # up to three kills of one result
                continue
            to_the_end(verb, out, finished)
        assert "Traceback" not in (tmp_path / LOG).read_text(errors="replace")
        assert verb.result(out) == expected
        _remove(out)
        if n_kills >= wanted:
            break
    assert n_kills >= wanted
    note(f"kills: {name}", n_kills, survived=n_kills, what=f"{seconds:.2f} s of CPU time each")


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="timers of CPU time")
def test_killed_in_the_first_second(tmp_path: Path) -> None:
    """From its start on, imports included, a command leaves nothing that stops the next one."""
    words = ["builtin:bow", "builtin", "--limit", "20", "--q", "3", "--with", "derange"]
    command = disorder_command("audit", *words, "--out", "out")
    draw = random.Random(1)
    wanted = size(2, 20)
    for _ in range(wanted):
        after = draw.uniform(0.01, 1)
        process = subprocess.Popen(
            command,
            cwd=tmp_path,
            env=environment(DISORDER_CACHE=str(tmp_path / "cache")),
            preexec_fn=lambda: signal.setitimer(signal.ITIMER_PROF, after),  # noqa: B023
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        assert process.wait() in (-signal.SIGPROF, 0)
        is_begun = (tmp_path / "out" / "run.json").exists()
        again = ["--resume", "out"] if is_begun else [*words, "--out", "out"]
        done = run("audit", *again, cwd=tmp_path)
        assert done.code == 0, (after, done.told)
        run("audit", *words, "--out", "whole", cwd=tmp_path)
        assert scores_of(tmp_path / "out") == scores_of(tmp_path / "whole")
        _remove(tmp_path / "out")
        _remove(tmp_path / "whole")
    note("kills: in the first second", wanted, survived=wanted, what="of CPU time, from the start")


def _remove(out: Path) -> None:
    shutil.rmtree(out, ignore_errors=True)
    for beside in out.parent.glob(f"{out.name}.*"):
        beside.unlink()


def test_a_clock_that_jumps_changes_no_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quick: None
) -> None:
    from disorder.verbs.audit import audit

    draw = random.Random(0)
    whole = audit("builtin:bow", "builtin", limit=30, q=4, out=tmp_path / "a", cache="off")
    monkeypatch.setattr(time, "time", lambda: draw.uniform(-1e9, 4e9))
    monkeypatch.setattr(time, "time_ns", lambda: int(draw.uniform(0, 4e18)))
    jumped = audit("builtin:bow", "builtin", limit=30, q=4, out=tmp_path / "b", cache="off")
    assert jumped.scores == whole.scores
    note("clock changes", 1, survived=1)
