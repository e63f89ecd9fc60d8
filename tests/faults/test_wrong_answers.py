"""Nothing wrong is believed: not the parts of another run, not a second writer, not a score that
cannot be one.
"""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from disorder.cli import folders
from disorder.errors import BadData, DisorderError
from disorder.results.run_folder import read_run
from disorder.store import storage
from disorder.store.store import Store
from disorder.verbs import human
from disorder.verbs.audit import audit, resume
from disorder.verbs.compare import compare
from disorder.verbs.gate import gate
from disorder.verbs.human import task_folder
from disorder.verbs.perturb import perturb
from disorder.verbs.train import train
from faults.laboratory import (
    PATIENCE,
    changed,
    copied,
    disorder_command,
    environment,
    run,
    samples_of,
    scores_of,
    small_run,
)

SLOW = """
import pathlib, time
labels = ("entailment", "neutral", "contradiction")
def predict(pairs):
    pathlib.Path("began").touch()
    while not pathlib.Path("go").exists():
        time.sleep(0.01)
    return ["neutral"] * len(pairs)
"""


WRITERS: dict[str, list[str]] = {
    "audit": ["audit", "none", "none", "--out", "out"],
    "sanity": ["sanity", "none", "--out", "out"],
    "explain": ["explain", "none", "none", "--out", "out"],
    "train": ["train", "plain", "none", "--model", "bow", "--out", "out"],
    "designs": ["designs", "none", "none", "--with", "reverse", "--out", "out"],
    "mitigations": ["mitigations", "none", "none", "--out", "out"],
    "study": ["study", "unli/table2", "uniform", "none", "--out", "out"],
    "human make": ["human", "make", "none", "--out", "out"],
    "board": ["board", "none", "--out", "out"],
}


class TestOldParts:
    def test_a_fresh_audit_never_reads_the_parts_of_another_run(
        self, finished: Path, tmp_path: Path
    ) -> None:
        old = copied(finished, tmp_path / "old")
        (old / "run.json").unlink()
        (old / "result.json").unlink()
        with pytest.raises(DisorderError, match=r"holds samples of a run that has no run.json"):
            audit("uniform", "builtin", limit=30, q=4, out=old, cache="off")

    @pytest.mark.parametrize("other", [{"seed": 1}, {"q": 5}, {"fidelity": "released"}])
    def test_parts_of_other_settings_are_predicted_again(
        self, finished: Path, tmp_path: Path, other: dict[str, Any]
    ) -> None:
        own = changed(finished, tmp_path / "own", lambda raw: raw.update(status="started"))
        given = {"limit": 30, "q": 4, "cache": "off"} | other
        audit("builtin:bow", "builtin", out=tmp_path / "theirs", **given)
        shutil.rmtree(own / "samples")
        shutil.copytree(tmp_path / "theirs" / "samples", own / "samples")
        again = resume(own)
        assert again.scores == read_run(finished).scores
        assert samples_of(finished).items() <= samples_of(own).items()
        assert again.profile.get("resumed", 0) == 0
        assert read_run(own).samples().equals(read_run(finished).samples())

    def test_parts_of_another_model_are_predicted_again(
        self, finished: Path, tmp_path: Path
    ) -> None:
        own = changed(finished, tmp_path / "own", lambda raw: raw.update(status="started"))
        audit("uniform", "builtin", limit=30, q=4, out=tmp_path / "theirs", cache="off")
        shutil.rmtree(own / "samples")
        shutil.copytree(tmp_path / "theirs" / "samples", own / "samples")
        assert resume(own).scores == read_run(finished).scores

    def test_a_comparison_does_not_read_the_samples_of_another_run(
        self, finished: Path, tmp_path: Path
    ) -> None:
        mixed = copied(finished, tmp_path / "mixed")
        audit("uniform", "builtin", limit=30, q=4, out=tmp_path / "theirs", cache="off")
        shutil.rmtree(mixed / "samples")
        shutil.copytree(tmp_path / "theirs" / "samples", mixed / "samples")
        with pytest.raises(BadData, match="samples are of another model, data or settings"):
            compare(finished, mixed)

    def test_a_resumed_run_reads_its_own_parts(self, finished: Path, tmp_path: Path) -> None:
        own = changed(finished, tmp_path / "own", lambda raw: raw.update(status="started"))
        again = resume(own)
        assert again.profile["resumed"] > 0
        assert again.profile.get("predicted", 0) == 0
        assert scores_of(own) == scores_of(finished)

    def test_a_fresh_study_never_reads_the_steps_of_another(
        self, tmp_path: Path, command: Any
    ) -> None:
        words = (
            "study",
            "unli/table2",
            "uniform",
            "builtin",
            "--limit",
            9,
            "--out",
            tmp_path / "s",
        )
        assert command(*words, "--q", 2)[0] == 0
        (tmp_path / "s" / "result.json").unlink()
        code, _, err = command(*words, "--q", 3)
        assert code == 2
        assert "holds results of a study that has no result.json" in err

    def test_a_fresh_training_leaves_no_checkpoint_of_another_to_be_resumed(
        self, tmp_path: Path
    ) -> None:
        pytest.importorskip("torch", reason="needs torch")
        (tmp_path / "t" / "checkpoints").mkdir(parents=True)
        with pytest.raises(DisorderError, match="holds checkpoints of a training that has no"):
            train("plain", "builtin:nli:train", model="bow", limit=20, out=tmp_path / "t")

    def test_a_task_that_was_made_half_is_no_task(self, tmp_path: Path) -> None:
        """Made again over an older one, it never has items beside the key of others."""
        human.make("builtin", tmp_path / "task", n=6)
        old = (tmp_path / "task" / "key.jsonl").read_bytes()
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(task_folder, "write_atomically", _interrupted_at("key.jsonl"))
            with pytest.raises(KeyboardInterrupt):
                human.make("builtin", tmp_path / "task", n=6, seed=1)
        assert (tmp_path / "task" / "key.jsonl").read_bytes() == old
        with pytest.raises(BadData, match=r"task\.json"):
            human.score(tmp_path / "task")
        assert human.make("builtin", tmp_path / "task", n=6, seed=1).task.seed == 1


def _interrupted_at(name: str) -> Any:
    def write(path: Path, content: bytes, **more: Any) -> None:
        if path.name == name:
            raise KeyboardInterrupt
        storage.write_atomically(path, content, **more)

    return write


class TestTwoWriters:
    def test_a_second_writer_gets_one_line_before_anything_is_loaded(self, tmp_path: Path) -> None:
        (tmp_path / "slow.py").write_text(SLOW)
        words = ("audit", "python:slow:predict", "builtin", "--limit", 9, "--q", 2, "--out", "one")
        first = subprocess.Popen(
            disorder_command(*words),
            cwd=tmp_path,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        try:
            while not (tmp_path / "began").exists():
                assert first.poll() is None, first.communicate()
            second = run("audit", "no-such-model", "builtin", "--out", "one", cwd=tmp_path)
            assert second.is_one_line("one is being written by another disorder", str(first.pid))
            third = run("audit", "--resume", "one", "python:slow:predict", cwd=tmp_path)
            assert third.is_one_line("one is being written by another disorder")
        finally:
            (tmp_path / "go").touch()
            _out, err = first.communicate(timeout=PATIENCE)
        assert first.returncode == 0, err.decode()
        assert not (tmp_path / "one" / ".lock").exists()

    @pytest.mark.parametrize("name", WRITERS)
    def test_every_verb_that_writes_a_folder_takes_its_lock_first(
        self, name: str, tmp_path: Path, command: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Before anything is loaded: what is named here is not there."""
        monkeypatch.chdir(tmp_path)
        with Store.open(tmp_path / "out"):
            code, _, err = command(*WRITERS[name])
        assert code == 2, err
        assert "out is being written by another disorder" in err
        assert len(err.strip().splitlines()) == 1

    @pytest.mark.parametrize("name", ["sanity", "explain", "designs", "human make", "board"])
    def test_a_folder_that_was_made_for_nothing_is_removed(
        self, name: str, tmp_path: Path, command: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        code, _, err = command(*WRITERS[name])
        assert code == 2, err
        assert list(tmp_path.iterdir()) == []

    def test_a_task_is_served_once(self, tmp_path: Path) -> None:
        pytest.importorskip("uvicorn", reason="needs uvicorn")
        from disorder.web.annotation_app import serve_task

        human.make("builtin", tmp_path / "task", n=6)
        with (
            Store.open(tmp_path / "task"),
            pytest.raises(DisorderError, match="being written by another"),
        ):
            serve_task(tmp_path / "task", say=print, port=0)

    def test_two_perturbed_files_of_one_name_are_never_mixed(self, tmp_path: Path) -> None:
        path = tmp_path / "x.jsonl"
        texts = perturb("builtin", with_="reverse", limit=3, q=1)
        with storage.replacing(path) as other:
            other.write(b"half of another")
            texts.save(path)
            written = path.read_bytes()
        assert len(written.splitlines()) == 3
        assert b"another" not in written
        assert path.read_bytes() == b"half of another"  # the last one wins, as a whole
        assert [each.name for each in tmp_path.iterdir()] == ["x.jsonl"]

    def test_names_made_in_the_same_second_differ(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        with ThreadPoolExecutor(8) as pool:
            made = list(pool.map(lambda _: folders.new_folder("bow", "builtin"), range(40)))
        assert len(set(made)) == 40
        assert all(folder.is_dir() for folder in made)
        folders.remove_empty_folders()
        assert not (tmp_path / "runs").exists()

    def test_a_command_that_fails_early_leaves_no_folder(self, tmp_path: Path) -> None:
        done = run("audit", "builtin:bow", "no-such-data", cwd=tmp_path)
        assert done.is_one_line("no-such-data")
        assert list(tmp_path.iterdir()) == []
        done = run("audit", "builtin:bow", "no-such-data", "--out", "a/b", cwd=tmp_path)
        assert done.is_one_line("no-such-data")
        assert list(tmp_path.iterdir()) == []

    def test_a_dead_process_holds_no_lock(self, tmp_path: Path) -> None:
        code = (
            "import os, pathlib, sys; from disorder.store.store import Store; "
            "held = Store.open(pathlib.Path(sys.argv[1])); os._exit(9)"
        )
        subprocess.run([sys.executable, "-c", code, str(tmp_path)], env=environment(), check=False)
        assert (tmp_path / ".lock").exists()
        with Store.open(tmp_path):
            pass
        assert not (tmp_path / ".lock").exists()

    def test_two_in_one_process_are_two(self, tmp_path: Path) -> None:
        with Store.open(tmp_path), pytest.raises(DisorderError, match="being written by another"):
            Store.open(tmp_path)


def _first(raw: dict[str, Any], metric: str = "accuracy") -> dict[str, Any]:
    found: dict[str, Any] = next(
        r for r in raw["scores"] if r["metric"] == metric and r["transformation"] != "original"
    )
    return found


def _nan(raw: dict[str, Any]) -> None:
    _first(raw)["value"] = math.nan


def _text(raw: dict[str, Any]) -> None:
    _first(raw)["value"] = "NaN"


def _infinite(raw: dict[str, Any]) -> None:
    _first(raw)["high"] = math.inf


def _huge(raw: dict[str, Any]) -> None:
    _first(raw)["value"] = 1e400


def _outside(raw: dict[str, Any]) -> None:
    _first(raw)["value"] = _first(raw)["high"] + 0.01


def _twice(raw: dict[str, Any]) -> None:
    raw["scores"].insert(0, _first(raw) | {"value": 0.0, "low": 0.0, "high": 0.0})


def _upside_down(raw: dict[str, Any]) -> None:
    _first(raw).update(low=1.0, high=0.0)


class TestGate:
    @pytest.mark.parametrize(
        "change", [_nan, _text, _infinite, _huge, _outside, _twice, _upside_down]
    )
    def test_a_score_that_cannot_be_one_is_unusable_input(
        self, finished: Path, tmp_path: Path, change: Any, command: Any
    ) -> None:
        bad = changed(finished, tmp_path / "bad", change)
        code, out, err = command("gate", bad, "--fail-if", "derange:accuracy > 0.99")
        assert code == 2, out
        assert err.startswith("disorder: ")
        assert len(err.strip().splitlines()) == 1

    def test_a_run_in_memory_is_checked_too(self, finished: Path) -> None:
        found = read_run(finished)
        found.scores[0].value = math.nan
        with pytest.raises(BadData, match="is not a number"):
            gate(found, "original:accuracy < 0")

    def test_a_key_that_stands_twice_is_damage(self, finished: Path, tmp_path: Path) -> None:
        bad = copied(finished, tmp_path / "bad")
        text = (bad / "result.json").read_text()
        (bad / "result.json").write_text('{"status": "done",' + text.lstrip()[1:])
        with pytest.raises(BadData, match="'status' stands twice"):
            read_run(bad)

    @pytest.mark.parametrize(("rule", "code"), [("< 0", 0), ("> 0", 1)])
    def test_nobody_reading_changes_no_decision(self, finished: Path, rule: str, code: int) -> None:
        words = disorder_command("gate", finished, "--fail-if", f"original:accuracy {rule}")
        process = subprocess.Popen(
            words, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        told = process.stderr.read()
        process.stderr.close()
        assert process.wait() == code, told

    def test_our_own_bug_is_exit_code_3(
        self, finished: Path, monkeypatch: pytest.MonkeyPatch, command: Any
    ) -> None:
        import disorder.verbs.gate as verb

        monkeypatch.setattr(verb, "_records", lambda *_: 1 / 0)
        code, _, err = command("gate", finished, "--fail-if", "original:accuracy < 0")
        assert code == 3
        assert "ZeroDivisionError" in err
        assert "this looks like a bug in disorder" in err.splitlines()[-1]


def test_a_journal_line_that_names_another_folder_is_none(finished: Path, tmp_path: Path) -> None:
    own = copied(finished, tmp_path / "own")
    journal = own / "samples" / "journal.jsonl"
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    lines[0]["part"] = "../../elsewhere.parquet"
    journal.write_text("\n".join(map(json.dumps, lines)))
    small_run(tmp_path / "other")
    assert ".." not in "".join(read_run(own).samples().column_names)
    from disorder.store.sample_parts import SampleParts

    assert all(".." not in name for name in SampleParts.open(own, to_write=False).known)
