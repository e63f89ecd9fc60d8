"""The right to write to a folder: one process at a time, taken before anything is loaded.

The lock is the operating system's on a file in the folder, so that a killed process leaves none
behind. Shared storage (s3://, …) has no such lock: there, one writer is not enforced.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import Path

from disorder.errors import DisorderError, option
from disorder.store.storage import is_on_disk, make_folder
from disorder.visible_text import one_line

LOCK = ".lock"
NO_LOCKS = {errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL}  # of some file systems


class FolderLock:
    """Held while a folder is written; a folder that was made for it and stays empty is removed."""

    def __init__(self, folder: Path, *, keyword: str, may_have_links: bool) -> None:
        from filelock import FileLock

        self.path = folder / LOCK
        self._made: list[Path] = []
        if not is_on_disk(folder):
            return
        self._made = make_folder(folder, keyword=keyword)
        if not self._made and not may_have_links:
            check_no_links(folder)
        self._lock = FileLock(self.path, timeout=0, thread_local=False)
        self._take(keyword)

    def release(self) -> None:
        """Let others write."""
        if not is_on_disk(self.path):
            return
        if self._lock.is_locked:
            with suppress(OSError):  # while it is held: who opens it now makes a new one
                self.path.unlink()
            self._lock.release()
            with suppress(OSError):  # Windows removes no file that is open
                if os.name == "nt":
                    self.path.unlink()
        for folder in reversed(self._made):
            try:
                folder.rmdir()
            except OSError:  # something was written
                break
        self._made = []

    def _take(self, keyword: str) -> None:
        from filelock import Timeout

        folder = self.path.parent
        try:
            self._lock.acquire()
        except Timeout:
            raise DisorderError(
                f"{folder} is being written by another disorder{_writer(self.path)}; wait until "
                "it is done, or choose another folder"
            ) from None
        except OSError as error:
            if error.errno in NO_LOCKS:
                self.path.unlink(missing_ok=True)
                return
            why = error.strerror or error
            raise DisorderError(f"{option(keyword, folder)} cannot be written ({why})") from None
        with suppress(OSError):  # Windows lets nobody else write to a file that is locked
            self.path.write_bytes(str(os.getpid()).encode())


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


def _writer(path: Path) -> str:
    """Who holds the lock, as far as is known."""
    try:
        with path.open("rb") as file:
            found = file.read(20).decode("ascii", "replace").strip()
    except OSError:
        return ""
    return f" (process {found})" if found.isdecimal() else ""
