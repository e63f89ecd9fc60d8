"""Every write call fails in turn: what is left resumes to the same bytes, or says one line."""

from __future__ import annotations

import errno
import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from disorder.errors import DisorderError
from disorder.runs import read_run, storage
from disorder.verbs.audit import audit, division, resume
from faults.laboratory import check_one_line, note, samples_of, scores_of, size

pytestmark = pytest.mark.laboratory

ERRORS = (errno.ENOSPC, errno.EIO, errno.EROFS, errno.EDQUOT)
SETTINGS: dict[str, Any] = {"limit": 24, "q": 4, "cache": "off", "with_": ["derange", "reverse"]}


class Disk:
    """Counts the calls that write, and makes one of them fail: before it did anything, or (a torn
    write) after half of it.
    """

    def __init__(
        self, fails_at: int = -1, code: int = errno.ENOSPC, *, is_torn: bool = False
    ) -> None:
        self.fails_at = fails_at
        self.code = code
        self.is_torn = is_torn
        self.n_calls = 0

    def step(self) -> bool:
        """Whether this call fails."""
        self.n_calls += 1
        return self.n_calls - 1 == self.fails_at

    def error(self, path: object) -> OSError:
        return OSError(self.code, os.strerror(self.code), str(path))


@contextmanager
def failing(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Path.open to write, fsync, replace and mkdir of the storage layer go through the disk."""
    fsync, replace, opened, mkdir = os.fsync, Path.replace, Path.open, Path.mkdir

    def failing_fsync(descriptor: int) -> None:
        if disk.step():
            raise disk.error("fsync")
        fsync(descriptor)

    def failing_replace(self: Path, target: Any) -> Path:
        if disk.step():
            raise disk.error(self)
        return replace(self, target)

    def failing_mkdir(self: Path, *given: Any, **more: Any) -> None:
        if disk.step():
            raise disk.error(self)
        mkdir(self, *given, **more)

    def failing_open(self: Path, mode: str = "r", *given: Any, **more: Any) -> Any:
        if not set(mode) & set("wax"):
            return opened(self, mode, *given, **more)
        if disk.step():
            raise disk.error(self)
        file = opened(self, mode, *given, **more)
        write = file.write

        class Torn:
            def write(self, content: Any) -> int:
                if disk.step():
                    if disk.is_torn:
                        write(content[: len(content) // 2])
                        file.flush()
                    raise disk.error(self)
                return int(write(content))

            def __getattr__(self, name: str) -> Any:
                return getattr(file, name)

            def __enter__(self) -> Any:
                file.__enter__()
                return self

            def __exit__(self, *details: Any) -> None:
                file.__exit__(*details)

        return Torn()

    with monkeypatch.context() as patched:
        patched.setattr(storage.os, "fsync", failing_fsync)
        patched.setattr(Path, "replace", failing_replace)
        patched.setattr(Path, "mkdir", failing_mkdir)
        patched.setattr(Path, "open", failing_open)
        yield


def test_every_write_of_an_audit_fails_in_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(division, "BLOCK", 48)  # several parts
    monkeypatch.setattr("disorder.report.charts.svg", lambda spec: "<svg/>")
    whole = tmp_path / "whole"
    disk = Disk()
    with failing(disk, monkeypatch):
        audit("builtin:bow", "builtin", out=whole, **SETTINGS)
    n_calls = disk.n_calls
    assert n_calls > 30
    draw = random.Random(0)
    faults = [
        (at, code, torn) for at in range(n_calls) for code in ERRORS for torn in (False, True)
    ]
    chosen = draw.sample(faults, min(len(faults), size(30, 600)))
    n_said = 0
    for number, (at, code, is_torn) in enumerate(chosen):
        out = tmp_path / f"run{number}"
        disk = Disk(at, code, is_torn=is_torn)
        with failing(disk, monkeypatch):
            n_said += _fails_in_one_line(out)
        _is_finished(out)
        assert scores_of(out) == scores_of(whole), (at, code, is_torn)
        assert samples_of(out) == samples_of(whole), (at, code, is_torn)
        assert not [path.name for path in out.rglob(".*")], (at, code, is_torn)
    note(
        "write faults: audit",
        len(chosen),
        survived=len(chosen),
        what=f"{n_calls} calls, {n_said} said",
    )


def _fails_in_one_line(out: Path) -> bool:
    """Start an audit that meets the fault: it is said in one line, or the result does not need the
    call (the page).
    """
    try:
        audit("builtin:bow", "builtin", out=out, **SETTINGS)
    except DisorderError as error:
        check_one_line(error)
        return True
    return False


def _is_finished(out: Path) -> None:
    """Go on as a user would: resume what is there, else start again."""
    if (out / "run.json").exists():
        resume(out)
    else:
        audit("builtin:bow", "builtin", out=out, **SETTINGS)
    assert read_run(out).status == "done"


def test_a_training_survives_each_write_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch", reason="needs torch")
    from disorder.verbs.train import resume as resume_training
    from disorder.verbs.train import train

    given: dict[str, Any] = {
        "model": "bow",
        "limit": 40,
        "settings": {"epochs": 2, "save_every": 1, "batch_size": 16},
    }
    disk = Disk()
    with failing(disk, monkeypatch):
        train("plain", "builtin:nli:train", out=tmp_path / "whole", **given)
    expected = (tmp_path / "whole" / "weights.npz").read_bytes()
    places = random.Random(1).sample(range(disk.n_calls), min(disk.n_calls, size(8, 200)))
    for number, at in enumerate(places):
        out = tmp_path / f"t{number}"
        with failing(Disk(at), monkeypatch):
            try:
                train("plain", "builtin:nli:train", out=out, **given)
            except DisorderError as error:
                check_one_line(error)
            except OSError as error:  # the command line says these in one line
                check_one_line(error)
        record = out / "training.json"
        if not record.exists():
            train("plain", "builtin:nli:train", out=out, **given)
        elif '"status": "started"' in record.read_text():
            resume_training(out)
        assert (out / "weights.npz").read_bytes() == expected, at
    note("write faults: train", len(places), survived=len(places))


def test_files_are_synced_before_and_after_they_are_moved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    replace = Path.replace

    def fsync(descriptor: int) -> None:
        path = os.readlink(f"/proc/self/fd/{descriptor}") if os.path.isdir("/proc/self/fd") else ""
        done.append(f"sync {os.path.basename(path)}")

    def moved(self: Path, target: Any) -> Path:
        done.append(f"move {Path(target).name}")
        return replace(self, target)

    monkeypatch.setattr(storage.os, "fsync", fsync)
    monkeypatch.setattr(Path, "replace", moved)
    storage.write_atomically(tmp_path / "file", b"content")
    assert [word.split()[0] for word in done] == ["sync", "move", "sync"]
    if os.path.isdir("/proc/self/fd"):
        assert done[0].startswith("sync .file.")
        assert done[2] == f"sync {tmp_path.name}"
    done.clear()
    storage.add_line(tmp_path / "file", b"line\n", b"")
    assert len(done) == 1


def test_a_write_that_fails_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    storage.write_atomically(path, b"old")
    for at in range(4):
        with (
            failing(Disk(at), monkeypatch),
            pytest.raises(DisorderError, match="cannot be written"),
        ):
            storage.write_atomically(path, b"new")
        # the calls are open, write, sync, move, and the folder's sync: by then the file is moved
        assert path.read_bytes() == b"old"
        assert [each.name for each in tmp_path.iterdir()] == ["file"]
