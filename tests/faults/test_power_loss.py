"""A power loss after any write: what the disk holds then opens, resumes, or says what is lost.

Of a file the disk is sure to hold what was written before its last sync, of a folder the names that
it had then: all else is gone. Python's own calls are replayed; SQLite's cache lies elsewhere.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from disorder.verbs.audit import sampling
from faults.disk import Disk, failing
from faults.laboratory import note, size
from faults.verbs import VERBS

Held = dict[str, Any]  # name → the bytes of a file, or what a folder holds


@dataclass
class UnsyncedDisk(Disk):
    """A disk that remembers what it would hold after a power loss at each call."""

    states: list[Held] = field(default_factory=list)
    contents: dict[int, bytes] = field(default_factory=dict)  # file → as it was synced last
    names: dict[int, dict[str, int]] = field(default_factory=dict)  # folder → as it was synced last

    def step(self, what: str) -> None:
        """Take down what is held before a call; then what a sync makes last."""
        super().step(what)
        self.take_down()
        name, _, descriptor = what.partition(" ")
        if name == "fsync":
            self._sync(Path(os.readlink(f"/proc/self/fd/{descriptor}")))

    def take_down(self) -> None:
        """Keep the state of now, where it is another than before."""
        held = self._held(self.root.stat().st_ino)
        if not self.states or held != self.states[-1]:
            self.states.append(held)

    def _sync(self, path: Path) -> None:
        if path.is_dir():
            self.names[path.stat().st_ino] = {
                each.name: each.stat().st_ino for each in path.iterdir()
            }
            for each in path.iterdir():
                if each.is_dir():
                    self.names.setdefault(each.stat().st_ino, {})
        else:
            self.contents[path.stat().st_ino] = path.read_bytes()

    def _held(self, folder: int) -> Held:
        return {
            name: self._held(number) if number in self.names else self.contents.get(number, b"")
            for name, number in self.names.get(folder, {}).items()
        }


def written(held: Held, folder: Path) -> None:
    """Make a folder with this content."""
    folder.mkdir(exist_ok=True)
    for name, content in held.items():
        if isinstance(content, dict):
            written(content, folder / name)
        else:
            (folder / name).write_bytes(content)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
@pytest.mark.parametrize("name", ["audit", "sanity"])
def test_whatever_a_power_loss_leaves_can_be_gone_on_with(
    name: str, tmp_path: Path, finished: Path, command: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampling, "BLOCK", 96)  # several parts
    monkeypatch.setattr("disorder.results.drawing.svg", lambda spec: "<svg/>")
    monkeypatch.setenv("DISORDER_CACHE", str(tmp_path / "cache"))
    verb = VERBS[name]
    (tmp_path / "disk").mkdir()
    disk = UnsyncedDisk(tmp_path / "disk")
    out = disk.root / "out"
    with failing(disk):
        assert command(*verb.typed(out, finished))[0] == 0
    disk.take_down()
    expected = verb.result(out)
    assert len(disk.states) > 4, "nothing was synced"
    final = tmp_path / "final"
    written(disk.states[-1], final)
    assert verb.result(final / "out") == expected, "the end of a command was not synced"
    every = max(1, len(disk.states) // size(8, len(disk.states)))
    n_said = 0
    for number, held in enumerate(disk.states[::every]):
        place = tmp_path / str(number)
        written(held, place)
        code, _, err = command(*verb.typed(place / "out", finished))
        what = (name, number, sorted(held.get("out", {})), err)
        assert "Traceback" not in err, what
        if code == 2:  # what is left cannot be used, and a line says so
            assert err.strip().splitlines()[-1].startswith("disorder: "), what
            n_said += 1
        else:
            assert code == 0, what
            assert verb.result(place / "out") == expected, what
    note(f"power loss: {name}", len(disk.states[::every]), survived=len(disk.states[::every]))
    assert n_said < len(disk.states[::every])
