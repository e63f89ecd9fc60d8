"""Unfinished work: what a verb has done so far, kept in its folder until all of it is done.

The same request in the same folder finds it again. What other settings, data or models made has
other names, and is not found.
"""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict, is_dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from disorder.errors import BadData
from disorder.runs.run_folder import make_folder
from disorder.runs.storage import write_atomically
from disorder.untrusted_files import read_file, read_json, validated

UNFINISHED = "unfinished"  # the folder inside that of the verb
MAX_ARRAYS = 4 * 1024**3  # bytes of a file of arrays
Arrays = dict[str, NDArray[Any]]
T = TypeVar("T")


class Unfinished:
    """Pieces of work that are computed once; without a folder each time.

    `made_of` is all that a piece depends on: settings, fingerprints, versions.
    """

    def __init__(self, folder: Path | None = None, made_of: Mapping[str, Any] | None = None):
        self.folder = None if folder is None else folder / UNFINISHED
        self.made_of = json.dumps(made_of or {}, sort_keys=True, default=str)

    def arrays(self, name: str, compute: Callable[[], Arrays]) -> Arrays:
        """Arrays by name, computed or found again."""
        path = self._path(name, ".npz")
        if path is None:
            return compute()
        if path.exists():
            return _read_arrays(path)
        found = compute()
        sink = io.BytesIO()
        np.savez(sink, **found)  # type: ignore[arg-type]
        self._write(path, sink.getvalue())
        return found

    def record(self, name: str, kind: type[T], compute: Callable[[], T]) -> T:
        """A dataclass, computed or found again; one with numbers that JSON lacks is not kept."""
        path = self._path(name, ".json")
        if path is None:
            return compute()
        if path.exists():
            kept: T = validated(kind, _read_json(path), str(path))
            return kept
        found = compute()
        assert is_dataclass(found)
        try:
            text = json.dumps(asdict(found), allow_nan=False, default=_plain)  # type: ignore[arg-type]
        except ValueError:
            return found
        self._write(path, text.encode("utf-8", "backslashreplace"))
        return found

    def remove(self) -> None:
        """Forget all of it: the work is done."""
        if self.folder is not None and self.folder.exists():
            shutil.rmtree(self.folder)

    def _path(self, name: str, ending: str) -> Path | None:
        if self.folder is None:
            return None
        key = blake2b(f"{self.made_of}\n{name}".encode(), digest_size=8).hexdigest()
        readable = "".join(char if char.isalnum() else "-" for char in name)[:60]
        return self.folder / f"{readable}-{key}{ending}"

    def _write(self, path: Path, content: bytes) -> None:
        make_folder(path.parent)
        write_atomically(path, content)


def _plain(value: Any) -> Any:
    """A number of numpy as one of Python."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} cannot be kept")


def _read_json(path: Path) -> Any:
    try:
        return read_json(path)
    except BadData as error:
        raise BadData(f"{error}; remove it and start again") from None


def _read_arrays(path: Path) -> Arrays:
    content = read_file(path, max_bytes=MAX_ARRAYS)
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as found:
            return {name: found[name] for name in found.files}
    except (ValueError, OSError, BadZipFile, KeyError, EOFError):
        raise BadData(f"{path} is damaged; remove it and start again") from None
