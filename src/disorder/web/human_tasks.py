"""Tasks for people beside the runs: how far their annotators are, and what the answers say.

A task is known by an opaque id. Only scores are shown: items, their key and personal links are not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from disorder.errors import DisorderError
from disorder.verbs.human import score
from disorder.verbs.human.task_folder import ANSWERS, TASK, read_task
from disorder.web.run_library import FolderIndex, RunLibrary

FILES = (TASK, "key.jsonl", "items.jsonl", ANSWERS, f"{ANSWERS}-wal")  # what scores rest on


@dataclass(frozen=True)
class FoundTask:
    """A task folder; it equals itself until one of its files changes."""

    id: str
    folder: Path
    name: str
    title: str
    changed: str
    stamp: tuple[int, ...]

    kind = "human task"

    @property
    def link(self) -> str:
        """Its page."""
        return f"/human/{self.id}"


class HumanTasks(FolderIndex[FoundTask]):
    """The tasks below the folder of a library."""

    most = 1_000
    prefix = "human "

    def __init__(self, library: RunLibrary) -> None:
        super().__init__(library.root)
        self.library = library

    def find(self, id: str) -> FoundTask | None:
        """The task with this id, as it is now."""
        known = self.known(id)
        return None if known is None else self.read(known.folder)

    def paths(self, folder: Path, files: Sequence[str]) -> Iterator[Path]:
        """The folder itself, where it has a task."""
        if TASK in files:
            yield folder

    def read(self, path: Path) -> FoundTask | None:
        """The task in a folder; None where a file leaves the library or is no task."""
        links = [name for name in FILES if (path / name).is_symlink()]
        if links or not self.library.is_inside(path / TASK):
            return None
        try:
            task = read_task(path)
            stamp = tuple(_changed(path / name) for name in FILES)
        except (DisorderError, OSError):
            return None
        title = f"{task.n_items:,} items of {task.source}"
        day = datetime.fromtimestamp(max(stamp) / 1e9, UTC).isoformat(timespec="seconds")
        name = path.name if path == self.root else path.relative_to(self.root).as_posix()
        return FoundTask(self.id_of(path), path, name, title, day, stamp)


def _changed(path: Path) -> int:
    return path.stat().st_mtime_ns if path.exists() else 0


@lru_cache(maxsize=16)
def task_page(found: FoundTask) -> dict[str, Any]:
    """The values of the page of one task; scored once per change of its files."""
    task = read_task(found.folder)
    values: dict[str, Any] = {"found": found, "task": task, "problem": ""}
    try:
        scores = score(found.folder)
    except DisorderError as error:
        return values | {"problem": str(error).replace(str(found.folder), found.name)}
    return values | {"result": scores.result, "answered": scores.answered}
