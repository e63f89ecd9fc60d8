"""Storage: where folders lie, and how files are written so that no reader sees half of one.

A folder lies on this machine, or on shared storage under any address that fsspec knows (s3://,
gs://, …).
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import IO, Any

from disorder.errors import CannotWrite, DisorderError, MissingPackage, option
from disorder.safe_io import one_line

LOCAL = "file://"
LONGEST_NAME = 200  # bytes that leave room for an ending: a name has 255 at most
NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
LOCK = ".lock"
NO_LOCKS = {errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL}  # of some file systems

_numbers = count()  # of temporary files: threads must not share one


def place(address: str | Path) -> Path:
    """A path on disk, or for an address with :// one on its storage, which has the same methods."""
    text = str(address)
    if text.startswith(LOCAL):
        return Path(text.removeprefix(LOCAL))
    if "://" not in text:
        return Path(address)
    try:
        from upath import UPath
    except ImportError as error:
        raise MissingPackage(text, "universal_pathlib", "ray") from error
    try:
        found: Any = UPath(text)
        _ = found.fs  # the storage's own package is only now looked for
    except (ImportError, ValueError) as error:
        raise DisorderError(f"{text} cannot be reached: {str(error).splitlines()[0]}") from None
    return found  # type: ignore[no-any-return]


def default_cache_folder() -> Path:
    """Where predictions of models and trained translators are kept: DISORDER_CACHE, or `disorder`
    in the user's cache folder ($XDG_CACHE_HOME or ~/.cache on Linux).
    """
    from platformdirs import user_cache_path

    given = os.environ.get("DISORDER_CACHE")
    return Path(given) if given else user_cache_path("disorder", appauthor=False)


def is_on_disk(path: Path) -> bool:
    """Whether files can be moved and added to, not only put and fetched whole."""
    return isinstance(path, Path)


def make_folder(folder: Path, *, keyword: str = "out") -> list[Path]:
    """Make a folder and those above it, to last; gives the new ones, outermost first."""
    try:
        parents = (folder, *folder.parents) if is_on_disk(folder) else ()
        missing = [each for each in parents if not each.exists()][::-1]
        folder.mkdir(parents=True, exist_ok=True)
        for each in missing:
            sync_folder(each.parent)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise DisorderError(f"{option(keyword, folder)} cannot be made ({why})") from None
    return missing


def write_atomically(path: Path, content: bytes, *, mode: int = 0o666) -> None:
    """Write a file so that a reader sees the old one or the new one, never half of it, also after
    a power loss; `mode` is who may read it.

    On disk it is written beside its place, synced, moved there, and the folder is synced; shared
    storage takes a file whole or not at all.
    """
    try:
        if is_on_disk(path):
            with replacing(path, mode=mode) as file:
                file.write(content)
        else:
            path.write_bytes(content)
    except OSError as error:
        raise cannot_write(path, error) from None


def write_together(files: Mapping[Path, bytes]) -> None:
    """Write files that say the same: all are on disk before one takes its name, and where one of
    them cannot be written none does.
    """
    path = Path()
    try:
        with ExitStack() as stack:
            for path, content in files.items():
                if is_on_disk(path):
                    file = stack.enter_context(replacing(path))
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
                else:
                    path.write_bytes(content)
    except OSError as error:
        raise cannot_write(path, error) from None


def write_named_file(path: Path, content: bytes) -> None:
    """Write a file that the user named: a link, a pipe or a device keeps its place."""
    try:
        is_special = path.exists() and not path.is_file()
        if is_special:
            path.write_bytes(content)
            return
    except OSError as error:
        raise cannot_write(path, error) from None
    write_atomically(Path(os.path.realpath(path)) if is_on_disk(path) else path, content)


@contextmanager
def replacing(path: Path, *, mode: int = 0o666) -> Iterator[IO[bytes]]:
    """A file that takes the name of `path` only when all of it is written and synced."""
    beside = path.with_name(f".{short_name(path.name)}.{os.getpid()}-{next(_numbers)}")
    try:
        beside.touch(mode=mode, exist_ok=False)
        with beside.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def short_name(name: str, n_bytes: int = LONGEST_NAME) -> str:
    """The beginning of a name, in so many bytes: that is what file systems count, not letters."""
    return os.fsencode(name)[:n_bytes].decode("utf-8", "ignore")


def sync_folder(folder: Path) -> None:
    """Make the names in a folder last: a file that was moved there stays after a power loss."""
    if os.name == "nt":  # folders cannot be opened there
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:  # some file systems know no such thing
            raise
    finally:
        os.close(descriptor)


def sync_tree(folder: Path) -> None:
    """Make all files of a folder last, where a library wrote them."""
    try:
        for here, _, names in os.walk(folder):
            for name in names:
                descriptor = os.open(os.path.join(here, name), os.O_RDONLY)
                try:
                    os.fsync(descriptor)
                finally:
                    os.close(descriptor)
            sync_folder(Path(here))
    except OSError as error:
        raise cannot_write(folder, error) from None


def remove_files(folder: Path, names: Iterable[str]) -> None:
    """Remove files of a folder, those of them that are there."""
    try:
        for name in names:
            (folder / name).unlink(missing_ok=True)
    except OSError as error:
        raise cannot_write(folder, error) from None


def add_line(path: Path, line: bytes, before: bytes) -> None:
    """Add a line to a file; `before` is what it holds, written again where nothing can be added."""
    if not is_on_disk(path):
        write_atomically(path, before + line)
        return
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | NO_LINK, 0o666)
        with os.fdopen(descriptor, "ab") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise cannot_write(path, error) from None


def cannot_write(path: Path, error: OSError) -> CannotWrite:
    """The line for a file that there is no room or no right for."""
    why = error.strerror or str(error)
    return CannotWrite(f"{path} cannot be written ({why}); what is finished is kept")


def copy_folder(source: Path, target: Path) -> None:
    """Copy all files of a folder, between disk and shared storage alike."""
    for path in sorted(source.rglob("*")):
        if not path.is_file() or path.name.startswith("."):  # a lock, half a file
            continue
        place_of_file = target / path.relative_to(source).as_posix()
        try:
            content = path.read_bytes()
            place_of_file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise cannot_write(place_of_file, error) from None
        write_atomically(place_of_file, content)


class TemporaryFolder:
    """A folder that is removed with the object: what a run without `out` keeps its samples in.

    Copies of a run share it; a run that was pickled comes back without.
    """

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="disorder-run-"))
        self._removal = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)

    def __deepcopy__(self, memo: dict[int, Any]) -> TemporaryFolder:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return type(None), ()


class FolderLock:
    """The right to write to a folder: one process at a time, taken before anything is loaded; a
    folder that was made for it and stays empty is removed.

    It is the operating system's lock on a file in the folder, so that a killed process leaves none
    behind. Shared storage (s3://, …) has no such lock: there, one writer is not enforced.
    """

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
