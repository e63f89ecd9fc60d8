"""The store: the folder that a verb writes, and the three ways to keep something.

- `once`: a step or a block of work, in this folder; the same request in the same folder finds it
  again after a stop.
- `checkpoint`: the state of a training that is under way.
- the prediction cache (`prediction_cache.py`): by model and text, across all runs.

One process writes at a time, each file whole or not at all. A piece of kept work is written, then
it gets a line in the journal with its checksum and with what it was made of. So work that was
stopped finds again what it had finished; a piece that is damaged, or made of other data, models or
settings, is computed again.
"""

from __future__ import annotations

import io
import json
import os
import re
import shutil
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import Any, Generic, TypeVar
from zipfile import BadZipFile

import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray

from disorder.errors import BadData
from disorder.safe_io import (
    MAX_JSON,
    MAX_PARQUET,
    one_line,
    parse_json,
    read_file,
    read_json,
    validated,
)
from disorder.store.storage import (
    FolderLock,
    add_line,
    is_on_disk,
    make_folder,
    sync_tree,
    write_atomically,
)

UNFINISHED = "unfinished"  # where steps are kept until all of them are done
CHECKPOINTS = "checkpoints"
NEWEST = "newest.json"
NAME = re.compile(r"[0-9]+(-[0-9]+)*")  # of a checkpoint
JOURNAL = "journal.jsonl"
NO_NAME = frozenset("/\\") | {chr(code) for code in range(32)}
Arrays = dict[str, NDArray[Any]]
Entry = dict[str, Any]
K = TypeVar("K", bound=Hashable)
N_KEPT = 20_000  # results in memory: about 40 MB of short arrays
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
        """Take the lock of a folder, made where it is missing, before anything is loaded."""
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


@dataclass(frozen=True)
class Form(Generic[T]):
    """How a piece is written to a file and read; `encode` raises a ValueError on what it cannot."""

    ending: str
    encode: Callable[[T], bytes]
    decode: Callable[[bytes, str], T]


def records(kind: type[T]) -> Form[T]:
    """Any type that pydantic can check, as JSON; numbers that JSON lacks are not kept."""
    return Form(
        ".json",
        lambda found: json.dumps(found, indent=1, allow_nan=False, default=_plain).encode(),
        lambda content, name: validated(kind, parse_json(content, name), name),
    )


def _plain(value: Any) -> Any:
    """What JSON holds of a dataclass, a model of pydantic or a number of numpy."""
    if is_dataclass(value):
        return {each.name: getattr(value, each.name) for each in fields(value)}
    if isinstance(value, np.generic):
        return value.item()
    if hasattr(value, "model_dump"):
        return value.model_dump()
    raise TypeError(f"{type(value).__name__} cannot be kept")


def _to_npz(arrays: Arrays) -> bytes:
    sink = io.BytesIO()
    np.savez(sink, **arrays)  # type: ignore[arg-type]
    return sink.getvalue()


def _from_npz(content: bytes, name: str) -> Arrays:
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as found:
            return {name: found[name] for name in found.files}
    except (ValueError, OSError, BadZipFile, KeyError, EOFError):
        raise BadData(f"{name} is damaged") from None


ARRAYS = Form[Arrays](".npz", _to_npz, _from_npz)
FILE = Form[bytes]("", bytes, lambda content, _: content)


@dataclass
class Kept:
    """The pieces in a folder; without a folder each is computed every time."""

    folder: Path | None
    notes: list[str] = field(default_factory=list)

    @cached_property
    def known(self) -> dict[str, Entry]:
        """The finished pieces by name; the last line of each counts."""
        if self.folder is None:
            return {}
        return {entry["part"]: entry for entry in journal_entries(self.folder / JOURNAL)}

    def once(self, name: str, compute: Callable[[], T], form: Form[T], *, of: str) -> T:
        """What `compute` finds, or found before from the same: `of` says what it is made of."""
        if self.folder is None:
            return compute()
        name += form.ending
        if self.known.get(name, {}).get("of") == of:
            try:
                return form.decode(self.read(name), name)
            except BadData:
                self.notes.append(f"{name} is damaged; it is computed again")
        found = compute()
        try:
            content = form.encode(found)
        except ValueError:
            return found
        self.write(name, content, of=of)
        return found

    def read(self, name: str) -> bytes:
        """The content of a piece that is known; raises where it is not what was written."""
        assert self.folder is not None
        path = self.folder / name
        content = b""
        with suppress(FileNotFoundError):
            content = read_file(path, max_bytes=MAX_PARQUET)
        if checksum(content) != self.known[name]["checksum"]:
            raise BadData(f"{one_line(path)} is missing or damaged")
        return content

    def write(self, name: str, content: bytes, *, of: str, **more: Any) -> None:
        """Add a piece: the file first, then its line in the journal, with `more` in it."""
        assert self.folder is not None
        before = b"".join(map(_line, self.known.values()))
        make_folder(self.folder)
        write_atomically(self.folder / name, content)
        entry = {"part": name, "of": of, "checksum": checksum(content), **more}
        journal = self.folder / JOURNAL
        # a line that was cut off by a crash must not swallow this one
        add_line(journal, b"\n" * _is_torn(journal) + _line(entry), before)
        self.known[name] = entry


def journal_entries(journal: Path) -> Iterator[Entry]:
    """The lines of a journal, each about a file beside it; one that is cut off is none."""
    if not journal.exists():
        return
    for line in read_file(journal, max_bytes=MAX_JSON).split(b"\n"):
        try:
            entry = parse_json(line, JOURNAL)
        except BadData:
            continue
        if isinstance(entry, dict) and _is_plain(entry.get("part")) and "checksum" in entry:
            yield entry


def _is_plain(name: Any) -> bool:
    """Whether it names a file of the folder itself."""
    return isinstance(name, str) and not name.startswith(".") and not NO_NAME & set(name)


def _is_torn(journal: Path) -> bool:
    if not is_on_disk(journal) or not journal.exists() or not journal.stat().st_size:
        return False
    with journal.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read() != b"\n"


def checksum(content: bytes) -> str:
    """What the journal knows the content of a piece by."""
    return blake2b(content, digest_size=16).hexdigest()


def made_of(facts: Mapping[str, Any]) -> str:
    """All that pieces depend on, as the journal keeps it."""
    return checksum(json.dumps(facts, sort_keys=True, default=str).encode())


def _line(entry: Mapping[str, Any]) -> bytes:
    return (json.dumps(entry, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")


class Memo(Generic[K, T]):
    """The `n` results used last, in memory, by key; safe for threads. With `size_of` it is the sum
    of their sizes that stays within `n`. Unlike `cachetools.cached` it takes a batch of keys, and
    computes the missing ones together.
    """

    def __init__(self, n: int = N_KEPT, size_of: Callable[[T], float] | None = None) -> None:
        self._results: LRUCache[K, T] = LRUCache(maxsize=n, getsizeof=size_of)
        self._lock = Lock()

    def __call__(self, keys: Sequence[K], make: Callable[[Sequence[int]], Sequence[T]]) -> list[T]:
        """One result per key; `make` gets the indices of those without one, each key once."""
        with self._lock:
            found = {key: self._results[key] for key in keys if key in self._results}
        missing = {key: i for i, key in enumerate(keys) if key not in found}
        if missing:
            made = dict(zip(missing, make(list(missing.values())), strict=True))
            with self._lock:
                self._results.update(made)
            found |= made
        return [found[key] for key in keys]


@dataclass
class Checkpoints:
    """The state of a training that is under way, of which the newest one counts.

    A checkpoint is a folder. It is written beside the last one, then the name of the newest is
    changed in one step, so that a kill at any moment leaves a complete one.
    """

    folder: Path

    def write(self, name: str, fill: Callable[[Path], None]) -> None:
        """Have one written by `fill`, then remove the one before."""
        new = self.folder / name
        shutil.rmtree(new, ignore_errors=True)
        fill(new)
        sync_tree(new)
        write_atomically(self.folder / NEWEST, json.dumps(name).encode())
        for other in self.folder.iterdir():
            if NAME.fullmatch(other.name) and other.name != name:
                shutil.rmtree(other)

    def newest(self) -> Path | None:
        """The folder of the newest one; None where work was stopped before the first."""
        if not (self.folder / NEWEST).exists():
            return None
        return self.folder / _plain_name(read_json(self.folder / NEWEST))

    def clear(self) -> None:
        """Remove them all: training is done."""
        shutil.rmtree(self.folder, ignore_errors=True)


def _plain_name(name: Any) -> str:
    """The name of a folder beside, and of none elsewhere."""
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise BadData(f"{NEWEST} names no checkpoint")
    return name
