"""The store: the folder that a verb writes, and the three ways to keep something.

- `once`: a step or a block of work, in this folder; the same request in the same folder finds it
  again after a stop.
- `checkpoint`: the state of a training that is under way.
- the prediction cache (`prediction_cache.py`): by model and text, across all runs.

One process writes at a time, each file whole or not at all.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from disorder.store.checkpoints import Checkpoints
from disorder.store.folder_lock import FolderLock
from disorder.store.kept import Form, Kept, checksum, made_of

UNFINISHED = "unfinished"  # where steps are kept until all of them are done
CHECKPOINTS = "checkpoints"
T = TypeVar("T")


class Store:
    """The folder of a verb; without a folder nothing is kept."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder
        self._of = ""
        self._lock: FolderLock | None = None

    @classmethod
    def open(
        cls, folder: Path | None, *, keyword: str = "out", may_have_links: bool = False
    ) -> Store:
        """Take the lock of a folder, which is made where it is missing: before anything is loaded,
        so that two commands never share one.
        """
        store = cls(folder)
        if folder is not None:
            store._lock = FolderLock(folder, keyword=keyword, may_have_links=may_have_links)
        return store

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def bind(self, facts: Mapping[str, Any]) -> None:
        """Say what all that is computed from now on depends on: settings, fingerprints, versions.

        What was made of something else is not found.
        """
        self._of = made_of(facts)

    @cached_property
    def _steps(self) -> Kept:
        return self.kept(UNFINISHED)

    def once(self, key: str, compute: Callable[[], T], form: Form[T]) -> T:
        """What `compute` finds; what it found before a stop is not computed again."""
        short = checksum(f"{self._of}\n{key}".encode())[:16]
        readable = "".join(char if char.isalnum() else "-" for char in key)[:60]
        return self._steps.once(f"{readable}-{short}", compute, form, of=self._of)

    def kept(self, name: str) -> Kept:
        """Files that stay in a folder of that name, each computed once."""
        return Kept(None if self.folder is None else self.folder / name)

    def checkpoint(self) -> Checkpoints:
        """The state of a training in this folder."""
        assert self.folder is not None
        return Checkpoints(self.folder / CHECKPOINTS)

    def finish(self) -> None:
        """Forget the steps: the result is written."""
        if self.folder is not None:
            shutil.rmtree(self.folder / UNFINISHED, ignore_errors=True)
        self.__dict__.pop("_steps", None)
