"""What lies below one folder, found by walking it now and then; each thing has an opaque id."""

from __future__ import annotations

import os
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import ClassVar, Generic, Protocol, TypeVar

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
