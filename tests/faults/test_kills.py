"""Killed at random moments, every verb ends with the result of a run in one go."""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from pathlib import Path

import pytest

from faults.forked import Ended, forked, preload
from faults.laboratory import note, size
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
