"""Tasks for people beside the runs: how far their annotators are, and what the answers say.

A task is known by an opaque id. Only scores are shown: items, their key and personal links are not.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import Any

from disorder.errors import DisorderError
from disorder.verbs.human import score, score_notes, score_rows, summary_line
from disorder.verbs.human.task_folder import ANSWERS, TASK, read_task
from disorder.web.run_library import WALK_EVERY, RunLibrary

MAX_TASKS = 1_000
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


@dataclass
class HumanTasks:
    """The tasks below the folder of a library."""

    library: RunLibrary
    _known: dict[str, FoundTask] = field(default_factory=dict)
    _walked: float = float("-inf")
    _lock: Lock = field(default_factory=Lock)

    def all(self) -> list[FoundTask]:
        """Every task that can be read."""
        with self._lock:
            if time.monotonic() - self._walked > WALK_EVERY:
                found = (self._read(folder) for folder in self._walk())
                self._known = {task.id: task for task in found if task is not None}
                self._walked = time.monotonic()
        return list(self._known.values())

    def find(self, id: str) -> FoundTask | None:
        """The task with this id, as it is now."""
        known = {task.id: task for task in self.all()}.get(id)
        return None if known is None else self._read(known.folder)

    def _walk(self) -> Iterator[Path]:
        n_found = 0
        for here, folders, files in os.walk(self.library.root):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            if TASK in files and n_found < MAX_TASKS:
                n_found += 1
                yield Path(here)

    def _read(self, folder: Path) -> FoundTask | None:
        """The task in a folder; None where a file leaves the library or is no task."""
        relative = folder.relative_to(self.library.root).as_posix()
        paths = [folder / name for name in FILES if (folder / name).is_symlink()]
        if paths or not self.library.is_inside(folder / TASK):
            return None
        try:
            task = read_task(folder)
            stamp = tuple(_changed(folder / name) for name in FILES)
        except (DisorderError, OSError):
            return None
        title = f"{task.n_items:,} items of {task.source}"
        day = datetime.fromtimestamp(max(stamp) / 1e9, UTC).isoformat(timespec="seconds")
        id = blake2b(os.fsencode(f"human {relative}"), digest_size=6).hexdigest()
        name = folder.name if relative == "." else relative
        return FoundTask(id, folder, name, title, day, stamp)


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
        problem = str(error).replace(str(found.folder), found.name)
        return values | {"summary": found.title, "problem": problem}
    return values | {
        "summary": summary_line(scores),
        "tables": score_rows(scores),
        "notes": score_notes(scores),
        "answered": scores.answered,
    }
