"""Every write call of every verb fails in turn: what is left resumes to the same bytes, or says one
line.
"""

from __future__ import annotations

import itertools
import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from disorder.errors import CannotWrite, DisorderError
from disorder.store import storage
from disorder.verbs.audit import sampling
from faults.disk import ERRORS, KINDS, Disk, Kind, failing
from faults.laboratory import note, size
from faults.verbs import LOG, VERBS, Verb

WRITING = [name for name in VERBS if name != "plan"]  # that one writes to its cache alone
# how often a write of each verb fails: in the small laboratory, in full
FAULTS = {
    **dict.fromkeys(("audit", "perturb", "sanity", "gate"), (6, 60)),
    "study": (3, 30),
    **dict.fromkeys(("designs", "mitigations"), (2, 20)),
}
USUAL = (3, 40)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on the failing disk; charts are not drawn, and blocks are small."""
    monkeypatch.setattr(sampling, "BLOCK", 96)  # several parts
    monkeypatch.setattr("disorder.results.drawing.svg", lambda spec: "<svg/>")
    monkeypatch.setenv("DISORDER_CACHE", str(tmp_path / "cache"))
    (tmp_path / "disk").mkdir()
    return tmp_path / "disk"


def chosen_faults(n_calls: int, n: int, seed: str) -> Iterator[tuple[int, int, Kind]]:
    """Every call in turn, in each round with another error and another way to fail."""
    draw = random.Random(seed)
    order = list(range(n_calls))
    draw.shuffle(order)
    rounds = itertools.cycle(itertools.product(KINDS[:3], ERRORS))
    found = ((at, *next(rounds)) for at in itertools.cycle(order))
    for number, (at, kind, code) in enumerate(itertools.islice(found, n)):
        yield at, code, "slow" if number % 10 == 9 else kind


@pytest.mark.laboratory
@pytest.mark.parametrize("name", WRITING)
def test_every_write_fails_in_turn(name: str, place: Path, finished: Path, command: Any) -> None:
    verb = VERBS[name]
    if verb.needs_torch:
        pytest.importorskip("torch", reason="needs torch")
    out = place / "out"
    disk = Disk(place)
    assert _called(verb, out, finished, command, disk)[0] == 0
    expected = verb.result(out)
    n_said = n_slow = 0
    faults = list(chosen_faults(len(disk.calls), size(*FAULTS.get(name, USUAL)), name))
    for at, code, kind in faults:
        _clear(place)
        ended, err = _called(verb, out, finished, command, Disk(place, at, code, kind))
        what = (name, disk.calls[at], code, kind, err)
        assert ended in (0, 2), what
        n_slow += kind == "slow"
        if ended == 2:
            assert kind != "slow", what
            assert err.strip().splitlines()[-1].startswith("disorder: "), what
            assert "Traceback" not in err, what
            n_said += 1
            again, told = _called(verb, out, finished, command, Disk(place))
            assert again == 0 or "this training is done" in told, (*what, told)
        assert verb.result(out) == expected, what
        assert not [path for path in out.rglob(".*") if path.is_file()], what
    what_was = f"{len(disk.calls)} calls; {n_said} said in one line, {n_slow} only slow"
    note(f"write faults: {name}", len(faults), survived=len(faults), what=what_was)


def _called(verb: Verb, out: Path, run: Path, command: Any, disk: Disk) -> tuple[int, str]:
    """Run a command on a disk; what it printed is kept beside OUT."""
    verb.prepare(out, run)
    with failing(disk):
        code, told, err = command(*verb.typed(out, run))
    (out.parent / LOG).write_text(told + err, encoding="utf-8")
    return code, err


def _clear(place: Path) -> None:
    shutil.rmtree(place)
    place.mkdir()


def test_weights_without_room_are_one_line(tmp_path: Path) -> None:
    """safetensors has an error of its own for a full disk."""
    safetensors = pytest.importorskip("safetensors", reason="needs safetensors")
    from disorder.verbs.train.folder import saving_weights

    told = "Error while serializing: I/O error: No space left on device (os error 28)"
    with pytest.raises(CannotWrite, match="No space left"), saving_weights(tmp_path):
        raise safetensors.SafetensorError(told)


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


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    storage.write_atomically(path, b"old")
    with failing(Disk(tmp_path)) as disk:
        storage.write_atomically(path, b"old")
    words = [call.split()[0] for call in disk.calls]
    assert words == ["open", "open", "write", "fsync", "replace", "fsync"]
    for at in range(len(words) - 1):  # at the folder's sync, the file has been moved
        for kind in KINDS[:3]:
            with (
                failing(Disk(tmp_path, at, kind=kind)),
                pytest.raises(DisorderError, match="cannot be written"),
            ):
                storage.write_atomically(path, b"new")
            assert path.read_bytes() == b"old"
            assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_files_that_say_the_same_are_all_old_or_all_new(tmp_path: Path) -> None:
    paths = [tmp_path / "result.json", tmp_path / "run.json"]
    with failing(Disk(tmp_path)) as disk:
        storage.write_together(dict.fromkeys(paths, b"old"))
    words = [call.split()[0] for call in disk.calls]
    assert words.count("replace") == len(paths)
    for at in range(words.index("replace") + 1):
        for kind in KINDS[:3]:
            with (
                failing(Disk(tmp_path, at, kind=kind)),
                pytest.raises(DisorderError, match="cannot be written"),
            ):
                storage.write_together(dict.fromkeys(paths, b"new"))
            assert [path.read_bytes() for path in paths] == [b"old", b"old"]
            assert {each.name for each in tmp_path.iterdir()} == {"result.json", "run.json"}
