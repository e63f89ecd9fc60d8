"""The run folders below one folder, found by walking it.

A run is known by an opaque id, and no address names a path. Symbolic links that leave the folder
are not followed. A damaged run is listed with the reason.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from threading import Lock

from disorder.errors import BadData, DisorderError
from disorder.runs import Run, read_run

MAX_RUNS = 5_000  # runs that are listed
MAX_BYTES = 64 * 1024**2  # of a run.json
WALK_EVERY = 2.0  # seconds

Stamp = tuple[int, int]  # time of change and size of run.json


@dataclass(frozen=True)
class FoundRun:
    """A run folder that can be read. It equals itself until its run.json changes."""

    id: str
    folder: Path
    name: str
    stamp: Stamp
    run: Run = field(compare=False)


@dataclass(frozen=True)
class DamagedRun:
    """A run folder that cannot be read, and why."""

    id: str
    folder: Path
    name: str
    stamp: Stamp
    problem: str


RunEntry = FoundRun | DamagedRun


@dataclass
class RunLibrary:
    """The runs below one folder."""

    root: Path
    is_cut: bool = False
    _known: dict[str, RunEntry] = field(default_factory=dict)
    _walked: float = float("-inf")
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        if not self.root.is_dir():
            raise DisorderError(
                f"{self.root} is not a folder; name one that has run folders in it, e.g. runs"
            )
        self.root = self.root.resolve()

    def all(self) -> list[RunEntry]:
        """Every run folder, read again where its run.json changed."""
        with self._lock:
            if time.monotonic() - self._walked > WALK_EVERY:
                entries = [self._read(folder) for folder in self._walk()]
                self._known = {entry.id: entry for entry in entries if entry is not None}
                self._walked = time.monotonic()
            return list(self._known.values())

    def find(self, id: str) -> RunEntry | None:
        """The run with this id, as it is now."""
        if id not in self._known:
            self.all()
        known = self._known.get(id)
        if known is None:
            return None
        entry = self._read(known.folder) or known
        self._known[id] = entry
        return entry

    def is_inside(self, path: Path) -> bool:
        """Whether a path, with links followed, is below the folder."""
        try:
            return path.resolve(strict=True).is_relative_to(self.root)
        except (OSError, RuntimeError):
            return False

    def parts(self, found: FoundRun) -> list[Path]:
        """The finished sample parts of a run, without links that leave the folder."""
        samples = found.folder / "samples"
        if not self.is_inside(samples) or not samples.is_dir():
            return []
        with os.scandir(samples) as entries:
            names = sorted(entry.name for entry in entries if _is_part(entry))
        paths = [samples / name for name in names]
        return [path for path in paths if not path.is_symlink() or self.is_inside(path)]

    def has_links(self, found: FoundRun) -> bool:
        """Whether anything in a run folder is a symbolic link; such a run is only read file by
        file, never as a whole.
        """
        samples = found.folder / "samples"
        paths = [found.folder / "run.json", found.folder / "examples.parquet", samples]
        if samples.is_dir():
            paths += samples.iterdir()
        return any(path.is_symlink() for path in paths)

    def examples(self, found: FoundRun) -> Path | None:
        """The file with the examples of a run."""
        path = found.folder / "examples.parquet"
        return path if self.is_inside(path) and path.is_file() else None

    def _walk(self) -> Iterator[Path]:
        """Folders with a run.json; nothing is looked for inside one."""
        self.is_cut = False
        n_found = 0
        for here, folders, files in os.walk(self.root):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            if "run.json" in files:
                folders.clear()
                n_found += 1
                if n_found > MAX_RUNS:
                    self.is_cut = True
                    return
                yield Path(here)

    def _read(self, folder: Path) -> RunEntry | None:
        """The run in a folder, from memory where its file has not changed."""
        relative = folder.relative_to(self.root).as_posix()
        id = blake2b(os.fsencode(relative), digest_size=6).hexdigest()
        path = folder / "run.json"
        try:
            status = path.stat()
        except OSError:
            return None
        stamp = (status.st_mtime_ns, status.st_size)
        known = self._known.get(id)
        if known is not None and known.stamp == stamp:
            return known
        name = folder.name if relative == "." else relative
        try:
            return FoundRun(id, folder, name, stamp, self._run(path, status.st_size))
        except BadData as error:
            problem = str(error).replace(f"{self.root}{os.sep}", "")
            return DamagedRun(id, folder, name, stamp, problem)

    def _run(self, path: Path, size: int) -> Run:
        if not self.is_inside(path) or not path.is_file():
            raise BadData("run.json is not a file below this folder; links are not followed")
        if size > MAX_BYTES:
            raise BadData(f"run.json has {size:,} bytes; at most {MAX_BYTES:,} are read")
        return read_run(path.parent)


def _is_part(entry: os.DirEntry[str]) -> bool:
    return entry.name.endswith(".parquet") and not entry.name.startswith(".") and entry.is_file()
