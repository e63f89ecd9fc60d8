"""The right to write to a folder: one process at a time, taken before anything is loaded.

The lock is the kernel's (flock) on a file in the folder, so that a killed process leaves none
behind. Shared storage (s3://, …) has no such lock: there, one writer is not enforced.
"""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from disorder.errors import DisorderError
from disorder.runs.storage import is_on_disk
from disorder.visible_text import one_line

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

LOCK = ".lock"
FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)


class FolderLock:
    """Held while a folder is written; a folder that was made for it and stays empty is removed."""

    def __init__(
        self, folder: Path, *, option: str = "--out", may_have_links: bool = False
    ) -> None:
        self.folder = folder
        self._made: list[Path] = []
        self._descriptor: int | None = None
        if not is_on_disk(folder):
            return
        self._made = _make(folder, option)
        if not self._made and not may_have_links:
            check_no_links(folder)
        self._descriptor = _locked(folder, option)

    def release(self) -> None:
        """Let others write."""
        if self._descriptor is not None:
            # while it is locked still: who opens the file now makes a new one
            (self.folder / LOCK).unlink(missing_ok=True)
            os.close(self._descriptor)
            self._descriptor = None
        for folder in reversed(self._made):
            try:
                folder.rmdir()
            except OSError:  # something was written
                break
        self._made = []

    def __enter__(self) -> FolderLock:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def check_no_links(folder: Path) -> None:
    """Raise on symbolic links below a folder: who wrote it could let us write, or remove, files
    elsewhere. The folder itself may be one, since the user names it.
    """
    for here, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = os.path.join(here, name)
            if os.path.islink(path):
                raise DisorderError(
                    f"{one_line(path)} is a symbolic link; nothing is written where a folder's "
                    "links lead: remove it, or choose another folder"
                )


def only_writer(folder: Path | None) -> AbstractContextManager[object]:
    """The lock of a folder; nothing is locked where nothing is written."""
    return nullcontext() if folder is None else FolderLock(folder)


def _make(folder: Path, option: str) -> list[Path]:
    """Make a folder and those above it; gives the ones that were not there, outermost first."""
    missing = [folder, *folder.parents]
    try:
        missing = [each for each in missing if not each.exists()][::-1]
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise DisorderError(f"{option} {folder} cannot be made ({why})") from None
    return missing


def _locked(folder: Path, option: str) -> int | None:
    """A descriptor that holds the lock of a folder; None where there are no locks."""
    if fcntl is None:
        return None
    path = folder / LOCK
    while True:
        try:
            descriptor = os.open(path, FLAGS, 0o666)
        except OSError as error:
            why = error.strerror or error
            raise DisorderError(f"{option} {folder} cannot be written ({why})") from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            writer = os.read(descriptor, 20).decode("ascii", "replace").strip()
            os.close(descriptor)
            raise DisorderError(
                f"{folder} is being written by another disorder"
                f"{f' (process {writer})' if writer.isdecimal() else ''}; wait until it is done, "
                "or choose another folder"
            ) from None
        except OSError:  # a file system without locks
            os.close(descriptor)
            path.unlink(missing_ok=True)
            return None
        if _is_still(path, descriptor):
            os.ftruncate(descriptor, 0)
            os.write(descriptor, str(os.getpid()).encode())
            return descriptor
        os.close(descriptor)  # the one before us removed it between our two steps


def _is_still(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except OSError:
        return False
