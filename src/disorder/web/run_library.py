"""What lies below one folder, found by walking it now and then: each thing has an opaque id.

No address names a path. Symbolic links that leave the folder are not followed. A damaged run is
listed with the reason.
"""

from __future__ import annotations

import os
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import ClassVar, Generic, Protocol, TypeVar

from disorder.errors import BadData, DisorderError
from disorder.results.run import Run
from disorder.results.run_folder import RECORD, read_run, record_of

WALK_EVERY = 2.0  # seconds


class Entry(Protocol):
    """Something that was found."""

    @property
    def id(self) -> str:
        """How addresses name it."""


Found = TypeVar("Found", bound=Entry)


class FolderIndex(ABC, Generic[Found]):
    """Things of one kind below a folder: at most `most` of them, and `is_cut` where there are more.

    Ids are made of paths, with `prefix` before them, so that those of two kinds differ.
    """

    most: ClassVar[int]
    prefix: ClassVar[str] = ""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.is_cut = False
        self._known: dict[str, Found] = {}
        self._walked = float("-inf")
        self._lock = Lock()

    def all(self) -> list[Found]:
        """Everything, looked for again after a while."""
        with self._lock:
            if time.monotonic() - self._walked > WALK_EVERY:
                entries = [self.read(path) for path in self._walk()]
                self._known = {entry.id: entry for entry in entries if entry is not None}
                self._walked = time.monotonic()
            return list(self._known.values())

    def known(self, id: str) -> Found | None:
        """The one with this id, as it was when it was last looked for."""
        if id not in self._known:
            self.all()
        return self._known.get(id)

    def id_of(self, path: Path) -> str:
        """The id of what lies at a path; none outside the folder."""
        try:
            relative = path.relative_to(self.root).as_posix()
        except ValueError:
            return ""
        return blake2b(os.fsencode(f"{self.prefix}{relative}"), digest_size=6).hexdigest()

    def _walk(self) -> Iterator[Path]:
        """The paths of what may be one; hidden folders and links to folders are left out."""
        self.is_cut = False
        n_found = 0
        for here, folders, files in os.walk(self.root):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for path in self.paths(Path(here), sorted(files)):
                n_found += 1
                if n_found > self.most:
                    self.is_cut = True
                    return
                yield path
            if self.is_leaf(files):
                folders.clear()

    def is_leaf(self, files: Sequence[str]) -> bool:
        """Whether nothing is looked for inside a folder with these files."""
        return False

    @abstractmethod
    def paths(self, folder: Path, files: Sequence[str]) -> Iterator[Path]:
        """The paths of what may be one in a folder with these files."""

    @abstractmethod
    def read(self, path: Path) -> Found | None:
        """What lies at a path; from memory where it has not changed."""


RUN = "run.json"
MAX_BYTES = 64 * 1024**2  # of a record

Stamp = tuple[int, int]  # time of change and size of the record


@dataclass(frozen=True)
class FoundRun:
    """A run folder that can be read. It equals itself until its record changes."""

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


class RunLibrary(FolderIndex[RunEntry]):
    """The runs below one folder."""

    most = 5_000

    def __init__(self, root: Path) -> None:
        if not root.is_dir():
            raise DisorderError(
                f"{root} is not a folder; name one that has run folders in it, e.g. runs"
            )
        super().__init__(root.resolve())

    def find(self, id: str) -> RunEntry | None:
        """The run with this id, as it is now."""
        known = self.known(id)
        if known is None:
            return None
        entry = self.read(known.folder) or known
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
        names = (RUN, RECORD, "examples.parquet", "samples")
        paths = [found.folder / name for name in names]
        if samples.is_dir():
            paths += samples.iterdir()
        return any(path.is_symlink() for path in paths)

    def examples(self, found: FoundRun) -> Path | None:
        """The file with the examples of a run."""
        path = found.folder / "examples.parquet"
        return path if self.is_inside(path) and path.is_file() else None

    def paths(self, folder: Path, files: Sequence[str]) -> Iterator[Path]:
        """The folder itself, where it has a run.json."""
        if RUN in files:
            yield folder

    def is_leaf(self, files: Sequence[str]) -> bool:
        """Nothing is looked for inside a run folder."""
        return RUN in files

    def read(self, path: Path) -> RunEntry | None:
        """The run in a folder, from memory where its file has not changed."""
        id = self.id_of(path)
        record = record_of(path, RUN)
        try:
            status = record.stat()
        except OSError:
            return None
        stamp = (status.st_mtime_ns, status.st_size)
        known = self._known.get(id)
        if known is not None and known.stamp == stamp:
            return known
        name = path.name if path == self.root else path.relative_to(self.root).as_posix()
        try:
            return FoundRun(id, path, name, stamp, self._run(record, status.st_size))
        except BadData as error:
            problem = str(error).replace(f"{self.root}{os.sep}", "")
            return DamagedRun(id, path, name, stamp, problem)

    def _run(self, path: Path, size: int) -> Run:
        if not self.is_inside(path) or not path.is_file():
            raise BadData(f"{path.name} is not a file below this folder; links are not followed")
        if size > MAX_BYTES:
            raise BadData(f"{path.name} has {size:,} bytes; at most {MAX_BYTES:,} are read")
        return read_run(path.parent)


def _is_part(entry: os.DirEntry[str]) -> bool:
    return entry.name.endswith(".parquet") and not entry.name.startswith(".") and entry.is_file()
