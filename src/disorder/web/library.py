"""Which runs lie below a folder? Found by walking it; a run is known by an opaque id, and no
address names a path.

Symbolic links that leave the folder are not followed. A damaged run is listed with what is wrong
with it.
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

MOST = 5_000  # runs that are listed
LARGEST = 64 * 1024**2  # bytes of a run.json
FRESH = 2.0  # seconds that a walk is good for


@dataclass(frozen=True)
class Found:
    """A run folder: its id, where it is, and the run in it or why it cannot be read.

    `stamp` changes when run.json does, so a run found again equals itself until then.
    """

    id: str
    folder: Path
    name: str
    run: Run | None = field(compare=False)
    problem: str = ""
    stamp: tuple[int, int] = (0, 0)


@dataclass
class Library:
    """The runs below one folder."""

    root: Path
    is_cut: bool = False
    _known: dict[str, Found] = field(default_factory=dict)
    _walked: float = float("-inf")
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        if not self.root.is_dir():
            raise DisorderError(
                f"{self.root} is no folder; name one that run folders lie in, e.g. runs"
            )
        self.root = self.root.resolve()

    def all(self) -> list[Found]:
        """Every run folder, read again where its run.json changed."""
        with self._lock:
            if time.monotonic() - self._walked > FRESH:
                folders = list(self._walk())
                self._known = {
                    found.id: found for folder in folders if (found := self._read(folder))
                }
                self._walked = time.monotonic()
            return list(self._known.values())

    def find(self, id: str) -> Found | None:
        """The run with this id, as it is now."""
        if id not in self._known:
            self.all()
        known = self._known.get(id)
        if known is None:
            return None
        found = self._known[id] = self._read(known.folder) or known
        return found

    def is_inside(self, path: Path) -> bool:
        """Whether a path, links followed, lies below the folder."""
        try:
            return path.resolve(strict=True).is_relative_to(self.root)
        except (OSError, RuntimeError):
            return False

    def parts(self, found: Found) -> list[Path]:
        """The finished parts of a run, none of which lies elsewhere."""
        samples = found.folder / "samples"
        if not self.is_inside(samples) or not samples.is_dir():
            return []
        with os.scandir(samples) as entries:
            names = sorted(entry.name for entry in entries if _is_part(entry))
        return [
            samples / name
            for name in names
            if not (samples / name).is_symlink() or self.is_inside(samples / name)
        ]

    def has_links(self, found: Found) -> bool:
        """Whether anything in a run folder is a symbolic link; such a run is only read file by
        file, never as a whole.
        """
        names = ("run.json", "examples.parquet", "samples")
        samples = found.folder / "samples"
        inner = list(samples.iterdir()) if samples.is_dir() else []
        return any(path.is_symlink() for path in [*(found.folder / name for name in names), *inner])

    def examples(self, found: Found) -> Path | None:
        """The file of a run's examples."""
        path = found.folder / "examples.parquet"
        return path if self.is_inside(path) and path.is_file() else None

    def _walk(self) -> Iterator[Path]:
        """Folders with a run.json; nothing is looked for inside one."""
        self.is_cut, n_found = False, 0
        for here, folders, files in os.walk(self.root):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            if "run.json" in files:
                folders.clear()
                n_found += 1
                if n_found > MOST:
                    self.is_cut = True
                    return
                yield Path(here)

    def _read(self, folder: Path) -> Found | None:
        """The run in a folder, from memory where its file has not changed."""
        name = folder.relative_to(self.root).as_posix()
        id = blake2b(os.fsencode(name), digest_size=6).hexdigest()
        path = folder / "run.json"
        try:
            facts = path.stat()
        except OSError:
            return None
        stamp = (facts.st_mtime_ns, facts.st_size)
        known = self._known.get(id)
        if known is not None and known.stamp == stamp:
            return known
        shown = folder.name if name == "." else name
        try:
            return Found(id, folder, shown, self._run(path, facts.st_size), "", stamp)
        except BadData as error:
            return Found(
                id, folder, shown, None, str(error).replace(f"{self.root}{os.sep}", ""), stamp
            )

    def _run(self, path: Path, size: int) -> Run:
        if not self.is_inside(path) or not path.is_file():
            raise BadData("run.json is no file below this folder; it is not followed")
        if size > LARGEST:
            raise BadData(f"run.json has {size:,} bytes, which no run of ours has")
        return read_run(path.parent)


def _is_part(entry: os.DirEntry[str]) -> bool:
    return entry.name.endswith(".parquet") and not entry.name.startswith(".") and entry.is_file()
