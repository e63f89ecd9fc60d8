"""What others may have written: files, read with limits (run folders, model folders, task folders),
and texts (names, labels, messages), made safe to print or show.

Whatever is wrong with a file (too large, too deep, not a number, not a file) is a `BadData` of one
line. Nothing in such a file is ever imported or executed. In a text, terminal escapes,
bidirectional overrides and half characters come out as symbols one can see; every surface prints
through `visible`, and a test over all commands holds it.

The size that a Parquet file unpacks to is found before a library unpacks it. What its footer says
is not enough: a text that stands there once may be named by a million rows. The headers of its
pages say what they unpack to and how many values they have. Where texts are named or repeated so
often that they could be too large, the rows are gone through with those texts as dictionaries, and
what they would take written out is counted.
"""

from __future__ import annotations

import json
import math
import mmap
import os
import re
import stat
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from disorder.errors import BadData

if TYPE_CHECKING:
    import pyarrow as pa

MAX_JSON = 64 * 1024**2  # bytes of a JSON file
MAX_PARQUET = 4 * 1024**3  # bytes of a Parquet file; what it unpacks to is limited too
MAX_DEPTH = 64  # lists and objects inside each other
MAX_REASON = 200  # characters of a library's message that are shown
LEAST_UNPACKED = 256 * 1024**2  # bytes that any file may unpack to
MAX_RATIO = 200  # of what a larger one unpacks to; texts pack 3 to 20 times
MOST_UNPACKED = 4 * 1024**3
ROWS = 65_536  # at a time
NAMED = (2, 8)  # encodings in which a value is the number of one in a dictionary
REPEATED = 7  # the encoding in which a text may repeat the beginning of the one before
WIDTHS = {"BOOLEAN": 1, "INT32": 4, "FLOAT": 4, "INT64": 8, "DOUBLE": 8, "INT96": 12}
TEXT = "BYTE_ARRAY"
PLACE = 8  # bytes that a text takes beside its own
MAX_NESTED = 12  # structures and lists inside each other in a footer; there are six or so
FIXED = {1: 1, 2: 1, 3: 1, 7: 8}  # other kinds of values → their bytes
KEPT = "\n\t\u200c\u200d"  # zero-width joiners belong to emoji and to Persian, Hindi, …
UNSEEN = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
# what JSON may hold raw although a terminal would obey it
UNSEEN_IN_JSON = re.compile(
    "[\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]"
)


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
    """Raise on a pipe or a device, which may have no end; a missing file is left to its reader."""
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


class Chunk(NamedTuple):
    """A column in one group of rows, as the headers of its pages have it."""

    path: str
    unpacked: int  # bytes of all pages, and of the values beside their texts
    n_values: int
    longest: int  # bytes of the longest text that can be named or repeated
    repeats: bool
    is_flat: bool


def most_unpacked(n_bytes: int) -> int:
    """How much files of so many bytes may unpack to."""
    return min(MOST_UNPACKED, max(LEAST_UNPACKED, MAX_RATIO * n_bytes))


def check_file(path: Path) -> None:
    """Raise where a Parquet file on disk unpacks to far more than it has; see `check_unpacked`."""
    with path.open("rb") as file:
        check_unpacked(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), str(path))


def check_unpacked(content: Any, where: str) -> None:
    """Raise where a Parquet file, given as bytes or memory map, unpacks to far more than it has.

    What is damaged raises as pyarrow does, or a `ValueError`.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    most = most_unpacked(len(content))
    source = pa.py_buffer(content)
    chunks = list(_chunks(pq.read_metadata(pa.BufferReader(source)).schema, content))
    unpacked = sum(chunk.unpacked for chunk in chunks)
    if unpacked + sum(chunk.n_values * chunk.longest for chunk in chunks) <= most:
        return
    if unpacked <= most:
        for n_bytes in _written_out(source, [chunk for chunk in chunks if chunk.longest]):
            unpacked += n_bytes
            if unpacked > most:
                break
    if unpacked > most:
        raise BadData(
            f"{where} has {len(content):,} bytes and unpacks to more than {most:,}; "
            "where that is right, save its rows as .jsonl"
        )


def _written_out(source: Any, chunks: list[Chunk]) -> Iterator[int]:
    """What texts that are named or repeated take, a few rows at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    repeating = {chunk.path for chunk in chunks if chunk.repeats}
    if any(chunk.repeats and not chunk.is_flat for chunk in chunks):
        yield MOST_UNPACKED  # one row could hold any number of them
    # a batch must fit with the repeated texts written out
    longest = max([1, *(chunk.longest for chunk in chunks if chunk.repeats)])
    rows = max(1, min(ROWS, LEAST_UNPACKED // longest))
    paths = {chunk.path for chunk in chunks}
    file = pq.ParquetFile(pa.BufferReader(source), read_dictionary=sorted(paths - repeating))
    for group in range(file.metadata.num_row_groups):  # each has dictionaries of its own
        for batch in file.iter_batches(rows, row_groups=[group], columns=sorted(paths)):
            yield sum(map(_text_bytes, batch.columns))


def _text_bytes(array: pa.Array) -> int:
    """What the texts of an array take."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = array.type
    if pa.types.is_dictionary(kind):
        lengths = pc.binary_length(array.dictionary).take(array.indices)
        return int(pc.sum(lengths).as_py() or 0)
    if pa.types.is_struct(kind):
        return sum(map(_text_bytes, array.flatten()))
    if pa.types.is_map(kind):
        first, last = array.offsets[0].as_py(), array.offsets[-1].as_py()
        return sum(_text_bytes(part[first:last]) for part in (array.keys, array.items))
    if pa.types.is_nested(kind):
        return _text_bytes(array.flatten())
    return int(array.nbytes)


def _chunks(schema: Any, content: Any) -> Iterator[Chunk]:
    """Every column of every group of rows.

    The footer is read here: asked for a column whose footer is damaged, pyarrow ends the process.
    """
    length = int.from_bytes(content[-8:-4], "little")
    footer, _ = _structure(content, len(content) - 8 - length)
    for group in _items(footer, 4):
        columns = _items(group, 1)
        if len(columns) != len(schema):
            raise ValueError("a damaged footer")
        for number, column in enumerate(columns):
            known = column.get(3)
            if not isinstance(known, dict):
                raise ValueError("a damaged footer")
            if known.get(5, 0):  # else no page is read
                yield _chunk(schema.column(number), known, content)


def _items(structure: Any, field: int) -> list[Any]:
    """The structures that a field lists."""
    found = structure.get(field, [])
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise ValueError("a damaged footer")
    return found


def _chunk(declared: Any, known: dict[int, Any], content: Any) -> Chunk:
    size, start, dictionary = (known.get(field, 0) for field in (7, 9, 11))
    if any(type(number) is not int for number in (size, start, dictionary)):
        raise ValueError("a damaged footer")
    if 0 < dictionary < start:
        start = dictionary
    pages = list(_pages(content, start, start + size))
    n_values = sum(n for _, n, _ in pages)
    unpacked = sum(size for size, _, _ in pages)
    is_text = declared.physical_type == TEXT
    repeats = is_text and any(encoding == REPEATED for _, _, encoding in pages)
    named = is_text and any(n and encoding in NAMED for _, n, encoding in pages)
    largest = max((size for size, n, _ in pages if not n), default=0)
    width = PLACE if is_text else WIDTHS.get(declared.physical_type, declared.length)
    return Chunk(
        path=declared.path,
        unpacked=unpacked + n_values * width,
        n_values=n_values,
        longest=unpacked if repeats else largest if named else 0,
        repeats=repeats,
        is_flat=declared.max_repetition_level == 0,
    )


def _pages(content: Any, at: int, end: int) -> Iterator[tuple[int, int, int]]:
    """What each page between two places unpacks to, its number of values and its encoding."""
    while at < end:
        header, at = _structure(content, at)
        unpacked, packed = header.get(2, 0), header.get(3, 0)
        data = header.get(5) or header.get(8) or {}
        if not isinstance(data, dict):
            raise ValueError("a damaged page header")
        n_values, encoding = data.get(1, 0), data.get(4 if 8 in header else 2, 0)
        if any(type(number) is not int for number in (unpacked, packed, n_values, encoding)):
            raise ValueError("a damaged page header")
        if min(unpacked, packed, n_values) < 0:
            raise ValueError("a page of negative size")
        yield unpacked, n_values, encoding
        at += packed


def _structure(content: Any, at: int, depth: int = 0) -> tuple[dict[int, Any], int]:
    """A structure of Thrift's compact protocol by field number, without texts; and its end."""
    found: dict[int, Any] = {}
    field = 0
    while True:
        head = _byte(content, at)
        at += 1
        if head == 0:
            return found, at
        if head >> 4:
            field += head >> 4
        else:
            field, at = _number(content, at)
        kind = head & 15
        if kind not in (1, 2):  # booleans are in the head itself
            found[field], at = _value(content, at, kind, depth)


def _value(content: Any, at: int, kind: int, depth: int) -> tuple[Any, int]:
    """A number, a structure or a list of them, and where it ends; None for anything else."""
    if depth > MAX_NESTED:
        raise ValueError("a damaged footer or page header")
    if kind in (4, 5, 6):
        return _number(content, at)
    if kind == 8:
        length, at = _varint(content, at)
        return None, at + length
    if kind == 9:
        head = _byte(content, at)
        n, at = _varint(content, at + 1) if head >> 4 == 15 else (head >> 4, at + 1)
        items = []
        for _ in range(n):
            item, at = _value(content, at, head & 15, depth + 1)
            items.append(item)
        return items, at
    if kind == 12:
        return _structure(content, at, depth + 1)
    if kind not in FIXED:
        raise ValueError("a damaged footer or page header")
    _byte(content, at + FIXED[kind] - 1)  # a list of more than there is has no end
    return None, at + FIXED[kind]


def _number(content: Any, at: int) -> tuple[int, int]:
    value, at = _varint(content, at)
    return (value >> 1) ^ -(value & 1), at


def _varint(content: Any, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        byte = _byte(content, at)
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
    raise ValueError("a damaged page header")


def _byte(content: Any, at: int) -> int:
    if not 0 <= at < len(content):
        raise ValueError("a page outside the file")
    return int(content[at])


def visible(text: object) -> str:
    """Control characters and bidirectional marks as symbols one can see.

    >>> visible("a\\x1b]52;c;aGk=\\x07b")
    'a␛]52;c;aGk=␇b'
    """
    found = str(text)
    if found.isprintable() and found.isascii():
        return found
    return "".join(_shown(char) for char in found)


def one_line(text: object) -> str:
    """A text that can neither break a line nor disturb a terminal."""
    return " ".join(visible(text).split())


def visible_json(text: str) -> str:
    """JSON in which characters that a terminal would obey are escaped; it means the same."""
    return UNSEEN_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _shown(char: str) -> str:
    if char in KEPT or unicodedata.category(char) not in UNSEEN:
        return char
    if ord(char) < 0x20:
        return chr(0x2400 + ord(char))
    return f"⟨U+{ord(char):04X}⟩"
