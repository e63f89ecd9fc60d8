"""Files that others may have written, read with limits: run folders, model folders, task folders.

Whatever is wrong with one (too large, too deep, not a number, not a file) is a `BadData` of one
line. Nothing in such a file is ever imported or executed.
"""

from __future__ import annotations

import json
import math
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from disorder.errors import BadData
from disorder.parquet_size import check_unpacked
from disorder.visible_text import one_line

if TYPE_CHECKING:
    import pyarrow as pa

MAX_JSON = 64 * 1024**2  # bytes of a JSON file
MAX_PARQUET = 4 * 1024**3  # bytes of a Parquet file; parquet_size.py limits what it unpacks to
MAX_DEPTH = 64  # lists and objects inside each other
MAX_REASON = 200  # characters of a library's message that are shown

T = TypeVar("T")


def read_file(path: Path, *, max_bytes: int) -> bytes:
    """The bytes of a regular file of limited size.

    A missing file raises `FileNotFoundError`, so that the caller can say what it should have been.
    """
    try:
        if isinstance(path, Path):
            status = os.stat(path)
            if not stat.S_ISREG(status.st_mode):  # a pipe would block, a device would never end
                raise BadData(f"{path} is not a regular file")
            size = status.st_size
        else:  # shared storage
            size = int(path.stat().st_size)
        if size > max_bytes:
            raise BadData(f"{path} has {size:,} bytes; at most {max_bytes:,} are read")
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError(str(path)) from None
    except (OSError, ValueError) as error:
        raise BadData(f"{path} cannot be read ({reason(error)})") from None


def check_regular_files(folder: Path) -> None:
    """Raise on a pipe or a device in a folder that a library will read: it would wait for ever."""
    for here, _, names in os.walk(folder):
        for name in names:
            path = Path(here, name)
            if path.exists() and not path.is_file():
                raise BadData(f"{one_line(path)} is not a regular file")


def check_regular_file(path: Path) -> None:
    """Raise on a pipe, which nobody may ever write to, and on a device, which may have no end; a
    missing file is left to its reader.
    """
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError) as error:
        if isinstance(error, ValueError):  # a name with a zero byte
            raise BadData(f"{one_line(path)} cannot be read ({reason(error)})") from None
        return
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise BadData(f"{one_line(path)} is not a regular file; write its rows to one first")


def read_json(path: Path, *, max_bytes: int = MAX_JSON) -> Any:
    """The content of a JSON file; see `parse_json`."""
    return parse_json(read_file(path, max_bytes=max_bytes), str(path))


def parse_json(content: bytes | str, where: str) -> Any:
    """JSON in which every number is finite, no key stands twice, and nothing is nested too deep."""
    try:
        text = content if isinstance(content, str) else content.decode("utf-8")
        found = json.loads(text, object_pairs_hook=unique_keys, parse_constant=_no_number)
    except RecursionError:
        raise BadData(f"{where} is damaged: nested more than {MAX_DEPTH} deep") from None
    except ValueError as error:
        raise BadData(f"{where} is damaged: {reason(error)}") from None
    _check_tree(found, where)
    return found


def validated(kind: Any, raw: Any, where: str) -> Any:
    """Raw JSON as an instance of a pydantic model, or as any type that pydantic can check."""
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(kind).validate_python(raw)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))[:MAX_REASON]
        told = f"{place}: {first['msg']}" if place else str(first["msg"])
        raise BadData(f"{where} is damaged: {one_line(told)}") from None
    except RecursionError:
        raise BadData(f"{where} is damaged: nested too deep") from None


def read_parquet(path: Path, *, schema: pa.Schema | None = None) -> pa.Table:
    """The table in a Parquet file, each value of it checked; with the columns of `schema` only."""
    content = read_file(path, max_bytes=MAX_PARQUET)
    return parse_parquet(content, str(path), schema=schema)


def parse_parquet(content: bytes, where: str, *, schema: pa.Schema | None = None) -> pa.Table:
    """The table in the bytes of a Parquet file; see `read_parquet`."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        check_unpacked(content, where)
        # as bytes, since a path such as builtin:bow/x.parquet would be taken for an address
        table = pq.read_table(pa.BufferReader(content), schema=schema)
        table.validate(full=True)
        return table
    except (pa.ArrowException, OSError, ValueError, TypeError, OverflowError) as error:
        raise BadData(f"{where} cannot be read ({reason(error)})") from None


def reason(error: BaseException) -> str:
    """What a library said, as the part of one line."""
    if isinstance(error, OSError) and error.strerror:
        return one_line(error.strerror)
    told = one_line((str(error).splitlines() or [""])[0]) or type(error).__name__
    return told if len(told) <= MAX_REASON else f"{told[:MAX_REASON]}…"


class RepeatedKey(ValueError):
    """An object of JSON that has a key twice."""


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON, for `object_pairs_hook`; Python's own takes the last of equal keys."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise RepeatedKey(f"{name[:MAX_REASON]!r} stands twice in one object")
        found[name] = value
    return found


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is not a number")


def _check_tree(found: Any, where: str) -> None:
    """Walk without recursion: depth is what is checked."""
    level = [found]
    depth = 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise BadData(f"{where} is damaged: nested more than {MAX_DEPTH} deep")
        inner: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                inner.extend(value.values())
            elif isinstance(value, list):
                inner.extend(value)
            elif isinstance(value, float) and not math.isfinite(value):
                raise BadData(f"{where} is damaged: a number is too large")
        level = inner
