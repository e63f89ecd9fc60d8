"""A run survives anything: killed at random moments, damaged on disk, out of room, it ends with
the same scores and loses nothing.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from disorder.errors import DisorderError
from disorder.results.progress import OVERALL
from disorder.results.run_folder import read_run
from disorder.verbs.audit import BLOCK, audit, resume

KILLS = 20 if os.environ.get("DISORDER_FAULTS") == "full" else 6  # make test-faults
MODEL = "python:slow_model:predict"
LABELS = ("entailment", "neutral", "contradiction")
SLOW = """
import time

labels = ("entailment", "neutral", "contradiction")


def predict(pairs):
    time.sleep(0.02)
    return [[0.6, 0.3, 0.1] if hash_of(a + b) % 2 else [0.1, 0.2, 0.7] for a, b in pairs]


def hash_of(text):
    return sum(ord(char) * (i + 1) for i, char in enumerate(text))
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "slow_model.py").write_text(SLOW)
    rows = [
        {
            "id": f"e{i}",
            "text_a": f"the {i} small dogs ran over nine old hills",
            "label": LABELS[i % 3],
            "text_b": f"some {i} brown cats sat on a warm red mat",
        }
        for i in range(400)
    ]
    (tmp_path / "data.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return tmp_path


SPECS = ["derange:q=40", "shuffle_ngrams", "reverse"]


def command(place: Path, out: str, *, is_resumed: bool) -> list[str]:
    start = [sys.executable, "-m", "disorder", "audit"]
    if is_resumed:
        return [*start, "--resume", out, MODEL]
    with_ = [word for spec in SPECS for word in ("--with", spec)]
    return [*start, "python:slow_model:predict", "data.jsonl", *with_, "--q", "40", "--out", out]


OF_THE_WAY = {"started", "seconds", "profile"}  # all that may differ after a kill


def run_of(folder: Path) -> dict[str, Any]:
    found = json.loads((folder / "run.json").read_text())
    return {name: value for name, value in found.items() if name not in OF_THE_WAY}


def samples_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((folder / "samples").glob("*.parquet"))}


def test_killed_at_random_moments_it_ends_with_the_same_bytes(place: Path) -> None:
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(place), os.environ.get("PYTHONPATH", "")]),
    }
    subprocess.run(
        command(place, "whole", is_resumed=False),
        cwd=place,
        env=environment,
        check=True,
        capture_output=True,
    )
    expected = run_of(place / "whole")
    draw, kills, out = random.Random(0), 0, "perturbed"
    for attempt in range(4 * KILLS):
        is_resumed = (place / out / "run.json").exists()
        process = subprocess.Popen(
            command(place, out, is_resumed=is_resumed),
            cwd=place,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        try:
            if kills < KILLS:
                process.wait(timeout=draw.uniform(0.6, 1.6))
            else:
                process.wait()
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills += 1
            continue
        finally:
            assert process.stderr is not None
            text = process.stderr.read().decode()
            process.stderr.close()
        assert process.returncode == 0, text
        assert run_of(place / out) == expected
        assert samples_of(place / out) == samples_of(place / "whole")
        if kills >= KILLS:
            break
        out = f"perturbed{attempt}"  # done before it could be killed often enough: start another
    assert kills >= KILLS
    repeats = 2 * 15
    assert expected["n_predictions"] == 400 * (1 + 40 + 10 + 1) + repeats


MORTAL = """
import os, pathlib, signal
from slow_model import labels, predict as answer

calls = pathlib.Path("calls")


def predict(pairs):
    with calls.open("a") as file:
        file.write(".")
    if calls.stat().st_size == 2:  # the original texts are done
        os.kill(os.getpid(), signal.SIGKILL)
    return answer(pairs)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_after_a_kill_all_of_the_run_is_the_same_but_what_tells_the_way(place: Path) -> None:
    (place / "mortal_model.py").write_text(MORTAL)
    start = [sys.executable, "-m", "disorder", "audit"]
    model = "python:mortal_model:predict"
    words = [model, "data.jsonl", "--with", "derange", "--q", "4", "--cache", "off"]
    words += ["--until", "never"]  # nothing is predicted before the run begins, to time it
    typed = [
        [*start, *words, "--out", "killed"],
        [*start, "--resume", "killed", model],
        [*start, *words, "--out", "whole"],
    ]
    done = [subprocess.run(each, cwd=place, capture_output=True, check=False) for each in typed]
    assert [each.returncode for each in done] == [-signal.SIGKILL, 0, 0], done
    assert json.loads((place / "killed" / "run.json").read_text())["profile"]["resumed"] > 0
    assert run_of(place / "killed") == run_of(place / "whole")


def test_a_resumed_run_predicts_no_finished_block_again(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place)
    monkeypatch.syspath_prepend(str(place))
    n_blocks = 0

    def stop(stage: str, *_: object) -> None:
        nonlocal n_blocks
        n_blocks += stage != OVERALL
        if n_blocks == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        audit(
            "python:slow_model:predict",
            "data.jsonl",
            q=40,
            with_=SPECS,
            out="run",
            progress=stop,
            repeats=0,
        )
    assert read_run(Path("run")).status == "failed"
    before = read_run(Path("run")).n_predictions
    assert before >= 400 + 2 * BLOCK - 200  # the original texts and two blocks were predicted
    run = resume("run", model=MODEL)
    assert run.status == "done"
    n_texts = 400 * (1 + 40 + 10 + 1)
    assert run.n_predictions == n_texts  # none was predicted twice
    assert run.profile["predicted"] == n_texts - before
    assert run.profile["resumed"] == before
    assert {"draw", "forward", "write"} <= set(run.profile)
    assert resume("run", model=MODEL).scores == run.scores  # a finished run is simply read


def test_a_damaged_part_is_predicted_again(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    monkeypatch.syspath_prepend(str(place))
    given = {"q": 5, "with_": ["derange"], "fidelity": "paper"}
    whole = audit("python:slow_model:predict", "data.jsonl", out="run", **given)
    before = samples_of(Path("run"))
    part = Path("run/samples/01-derange-00000.parquet")
    for damage in (
        lambda c: c[: len(c) // 2],
        lambda c: bytes([c[0]]) + bytes([c[500] ^ 1]) + c[1:],
        lambda _: b"",
    ):
        part.write_bytes(damage(part.read_bytes()))
        state = json.loads(Path("run/result.json").read_text())
        Path("run/result.json").write_text(json.dumps({**state, "status": "started", "scores": []}))
        again = resume("run", model=MODEL)
        assert again.scores == whole.scores
        assert samples_of(Path("run")) == before
        assert any("damaged" in note for note in again.notes)


def test_an_unfinished_run_of_before_is_not_resumed(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place)
    monkeypatch.syspath_prepend(str(place))
    audit("python:slow_model:predict", "data.jsonl", q=2, with_=["derange"], out="run")
    state = json.loads(Path("run/result.json").read_text())
    Path("run/result.json").write_text(json.dumps({**state, "status": "started"}))
    journal = Path("run/samples/journal.jsonl")
    entries = [json.loads(line) for line in journal.read_text().splitlines()]
    older = [{key: entry[key] for key in entry if key != "predicted"} for entry in entries]
    journal.write_text("".join(json.dumps(entry) + "\n" for entry in older))
    with pytest.raises(DisorderError, match="run was begun by an earlier version of disorder"):
        resume("run", model=MODEL)
    Path("run/result.json").write_text(json.dumps(state))
    assert len(read_run("run").samples()) == 400 * 3  # a finished one stays readable


def test_changed_data_is_not_mixed_into_a_run(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    monkeypatch.syspath_prepend(str(place))
    audit("python:slow_model:predict", "data.jsonl", q=2, with_=["derange"], out="run")
    state = json.loads(Path("run/result.json").read_text())
    Path("run/result.json").write_text(json.dumps({**state, "status": "started"}))
    text = Path("data.jsonl").read_text()
    Path("data.jsonl").write_text(text.replace("small", "large", 1))
    with pytest.raises(DisorderError, match="the data changed since the run began"):
        resume("run", model=MODEL)


def test_another_tagger_is_not_mixed_into_a_run(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place)
    audit("always:neutral", "data.jsonl", limit=3, with_=["drop_pos:tags=NOUN"], out="run")
    state = json.loads(Path("run/result.json").read_text())
    assert len(state["taggers"]) == 1
    state |= {"status": "started", "taggers": ["spacy:another_pipeline"]}
    Path("run/result.json").write_text(json.dumps(state))
    with pytest.raises(DisorderError, match="began with spacy:another_pipeline for word classes"):
        resume("run")


@pytest.mark.skipif(
    os.geteuid() != 0 or sys.platform != "linux", reason="mounting a small disk needs root on Linux"
)
def test_a_full_disk_loses_nothing_that_was_finished(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place)
    monkeypatch.syspath_prepend(str(place))
    small = place / "small"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=220k", "tmpfs", str(small)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("this machine does not let tests mount a disk")
    try:
        with pytest.raises(DisorderError, match=r"cannot be written .*what is finished is kept"):
            audit(
                "python:slow_model:predict",
                "data.jsonl",
                q=100,
                with_=["derange"],
                out=small / "run",
            )
        n_kept = len(samples_of(small / "run"))
        subprocess.run(["mount", "-o", "remount,size=64m", str(small)], check=True)
        run = resume(small / "run", model="python:slow_model:predict")
        assert n_kept > 1
        assert run.profile["resumed"] > 0
        assert (
            run.scores
            == audit("python:slow_model:predict", "data.jsonl", q=100, with_=["derange"]).scores
        )
    finally:
        subprocess.run(["umount", str(small)], check=True)
