"""What lies beside the runs: explanations, checks, studies and comparisons, as files on disk; and
tasks for people, how far their annotators are and what the answers say.

A page is known by its title ("disorder sanity: …") and by an opaque id; no address names a path.
Links from one page to another below the folder lead to their ids, others are taken out.
Of a task only scores are shown: items, their key and personal links are not.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from disorder.errors import DisorderError
from disorder.verbs.human import score
from disorder.verbs.human.task_folder import ANSWERS, TASK, read_task
from disorder.web.run_library import FolderIndex, RunLibrary

MAX_BYTES = 64 * 1024**2
HEAD = 4096  # bytes in which the title stands
KINDS = {
    "sanity": "sanity",
    "explain": "explanation",
    "study": "study",
    "compare": "comparison",
}  # word in the title → what it is
TITLE = re.compile(r"<title>disorder(?: (\w+)(?: (\S+))?)?: (.*?)</title>", flags=re.DOTALL)
BACK = '<p><a href="/">← all runs and results</a></p>'
LINK = re.compile(r'href="([^"#][^"]*)"')


@dataclass(frozen=True)
class ResultPage:
    """A page on disk; the report of a run has no kind."""

    id: str
    path: Path
    name: str
    kind: str
    title: str
    changed: str
    stamp: tuple[int, int]

    @property
    def link(self) -> str:
        """Where it is served."""
        return f"/page/{self.id}"


class ResultPages(FolderIndex[ResultPage]):
    """The pages below the folder of a library."""

    most = 5_000
    prefix = "page "

    def __init__(self, library: RunLibrary) -> None:
        super().__init__(library.root)
        self.library = library

    def results(self) -> list[ResultPage]:
        """Every page that is no report of a run."""
        return [page for page in self.all() if page.kind]

    def content(self, page: ResultPage) -> str:
        """The page as it is on disk, its links to other pages of this folder made to work."""
        text = page.path.read_bytes().decode("utf-8", "replace")
        linked = LINK.sub(lambda found: self._link(page, found[1]), text)
        return linked.replace("<h1", f"{BACK}\n<h1", 1)

    def beside(self, folder: Path, name: str) -> ResultPage | None:
        """The page of that name in a folder."""
        return self.known(self.id_of(folder / name))

    def _link(self, page: ResultPage, target: str) -> str:
        """Where a link leads here: another page, or nowhere."""
        if re.match(r"[a-z]+:", target):
            return f'href="{target}"'
        name, _, place = target.partition("#")
        path = page.path.parent / unquote(unescape(name))
        other = self.known(self.id_of(Path(os.path.normpath(path))))
        if other is None:
            return 'data-dead=""'
        return f'href="{other.link}#{place}"' if place else f'href="{other.link}"'

    def paths(self, folder: Path, files: Sequence[str]) -> Iterator[Path]:
        """The pages of a folder."""
        return (folder / name for name in files if name.endswith(".html"))

    def read(self, path: Path) -> ResultPage | None:
        """A page of ours; None for any other file, and for links that leave the folder."""
        id = self.id_of(path)
        try:
            status = path.stat()
        except OSError:
            return None
        stamp = (status.st_mtime_ns, status.st_size)
        known = self._known.get(id)
        if known is not None and known.stamp == stamp:
            return known
        if not self.library.is_inside(path) or not path.is_file() or status.st_size > MAX_BYTES:
            return None
        changed = datetime.fromtimestamp(status.st_mtime, UTC).isoformat(timespec="seconds")
        relative = path.parent.relative_to(self.root).as_posix()
        is_usual = path.name in ("report.html", "explain.html")
        name = relative if is_usual else f"{relative}/{path.name}"
        kind, title = _described(path)
        if kind is None:
            return None
        return ResultPage(id, path, name.removeprefix("./"), kind, title, changed, stamp)


def _described(path: Path) -> tuple[str | None, str]:
    """The kind and title of a page; no kind at all where it is none of ours."""
    with path.open("rb") as file:
        head = file.read(HEAD).decode("utf-8", "replace")
    found = TITLE.search(head)
    if found is None:
        return None, ""
    title = unescape(found[3])
    if found[1] is None:
        return "", title
    if found[1] not in KINDS:
        return None, ""
    return KINDS[found[1]], f"{found[2]}: {title}" if found[2] else title


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
