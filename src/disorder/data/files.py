"""Files with one example per row (JSONL, JSON, CSV, TSV, Parquet; `.gz` too), read row by row."""

from __future__ import annotations

import csv as csv_module
import gzip
import io
import json
import logging
import re
import zlib
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import IO, Any

from disorder.data.examples import SourceRow
from disorder.errors import BadData
from disorder.registry import data
from disorder.safe_io import (
    RepeatedKey,
    check_file,
    check_regular_file,
    parse_json,
    reason,
    unique_keys,
)

MAX_FIELD = 2**31 - 1
BOM = b"\xef\xbb\xbf"
MAX_RATIO = 200  # of a gzip file: texts pack 3 to 20 times
LEAST_UNPACKED = 64 * 1024**2  # bytes that any gzip file may unpack to
SEPARATORS = {";": "semicolons", "\t": "tabs"}
SAID_SEPARATORS = ("sep=;", "sep=,", "sep=")
logger = logging.getLogger(__name__)


@data(form="FILE.jsonl")
def jsonl(path: Path) -> Iterator[SourceRow]:
    """One JSON object per line (`.jsonl`, `.ndjson`, also `.gz`)."""
    for number, line in _lines(path):
        if line.strip():
            try:
                yield f"line {number}", json.loads(line, object_pairs_hook=unique_keys)
            except json.JSONDecodeError as error:
                raise BadData(
                    f"{path}, line {number}: broken JSON ({error.msg}, column {error.colno})"
                ) from None
            except RepeatedKey as error:
                raise BadData(f"{path}, line {number}: {error}") from None
            except (RecursionError, ValueError):  # well-formed, but past Python's own limits
                raise BadData(
                    f"{path}, line {number}: broken JSON (nested too deep, or a number too long)"
                ) from None


@data(form="FILE.json")
def json_rows(path: Path) -> Iterator[SourceRow]:
    """A JSON list of objects, or an object that has one (`.json`, also `.gz`); one object per line
    is read as JSONL.
    """
    first = next((line for _, line in _lines(path) if line.strip()), "").strip()
    try:
        is_one_row = isinstance(json.loads(first), dict)
    except (ValueError, RecursionError):
        is_one_row = False
    found: Any = None
    if not is_one_row or sum(1 for _, line in _lines(path) if line.strip()) == 1:
        found = parse_json("".join(line for _, line in _lines(path)), str(path))
    if isinstance(found, dict):
        lists = [each for each in found.values() if _is_rows(each)]
        if len(lists) > 1:
            raise BadData(f"{path}: it has {len(lists)} lists of rows; write one to a file")
        found = lists[0] if lists else None if is_one_row else found
    if found is None:
        yield from jsonl(path)
        return
    if not _is_rows(found) and found != []:
        raise BadData(f"{path}: expected a list of objects, or an object per line")
    for number, row in enumerate(found, start=1):
        yield f"row {number}", row


def _is_rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


@data(form="FILE.csv")
def csv(path: Path) -> Iterator[SourceRow]:
    """Comma-separated values with a header (`.csv`, also `.gz`); semicolons or tabs where the
    header has no comma.
    """
    return _table(path, delimiter=",", quoting=csv_module.QUOTE_MINIMAL)


@data(form="FILE.tsv")
def tsv(path: Path) -> Iterator[SourceRow]:
    """Tab-separated values with a header (`.tsv`, also `.gz`); quotes are text, as in GLUE."""
    return _table(path, delimiter="\t", quoting=csv_module.QUOTE_NONE)


@data(form="FILE.parquet")
def parquet(path: Path) -> Iterator[SourceRow]:
    """An Apache Parquet file."""
    import pyarrow
    import pyarrow.parquet

    check_regular_file(path)
    number = 0
    try:
        check_file(path)
        with pyarrow.parquet.ParquetFile(path) as file:
            names = file.schema_arrow.names
            if len(set(names)) < len(names):
                raise BadData(f"{path}: a column name stands twice")
            for batch in file.iter_batches(1024):
                for row in plain_rows(batch):
                    number += 1
                    yield f"row {number}", row
    except (pyarrow.ArrowException, OSError, OverflowError, ValueError) as error:
        where = f" after row {number}" if number else ""
        raise BadData(f"{path}: not a readable Parquet file{where} ({reason(error)})") from None


def plain_rows(batch: Any) -> Iterator[dict[str, Any]]:
    """The rows of a batch; a value that Python cannot hold (an odd time, a text that is not UTF-8)
    is an error only for those who use its column.
    """
    columns = {name: _plain_values(batch.column(i)) for i, name in enumerate(batch.schema.names)}
    for i in range(batch.num_rows):
        yield {name: values[i] for name, values in columns.items()}


def _plain_values(column: Any) -> list[Any]:
    try:
        found: list[Any] = column.to_pylist()
        return found
    except (ValueError, OverflowError, TypeError, ArithmeticError):
        return [_plain_value(value) for value in column]


class Unreadable:
    """A value of a Parquet file that is neither text nor number nor time."""

    def __str__(self) -> str:
        raise BadData("a value is not UTF-8, or a time beyond all calendars; repair the file")


def _plain_value(value: Any) -> Any:
    try:
        return value.as_py()
    except (ValueError, OverflowError, TypeError, ArithmeticError):
        return Unreadable()


READERS = {
    ".jsonl": jsonl,
    ".ndjson": jsonl,
    ".json": json_rows,
    ".csv": csv,
    ".tsv": tsv,
    ".parquet": parquet,
}


def reader_for(path: Path) -> Any:
    """The reader for a file, by its ending."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if len(suffixes) > 1 and suffixes[-1] == ".gz":
        suffixes.pop()
    suffix = suffixes[-1] if suffixes else ""
    if suffix not in READERS:
        raise BadData(
            f"{path}: cannot tell the format; use {', '.join(READERS)} (text formats also with .gz)"
        )
    return READERS[suffix]


def _table(path: Path, *, delimiter: str, quoting: int) -> Iterator[SourceRow]:
    before = csv_module.field_size_limit(MAX_FIELD)
    try:
        first, text = _peeked(line for _, line in _lines(path))
        if delimiter == "," and first.strip().casefold() in SAID_SEPARATORS:
            next(text)  # a line that spreadsheets write above the header
            first, text = _peeked(text)
        if delimiter == ",":
            delimiter = _separator(path, first)
        rows = csv_module.reader(text, delimiter=delimiter, quoting=quoting, strict=True)  # type: ignore[arg-type]
        header = next(rows, None)
        if header is None:
            return
        if len(set(header)) < len(header):
            raise BadData(f"{path}: a column name stands twice in the header")
        for cells in rows:
            if cells:
                yield f"line {rows.line_num}", _record(path, rows.line_num, header, cells)
    except csv_module.Error as error:
        raise BadData(f"{path}, line {rows.line_num}: {_in_our_words(str(error))}") from None
    finally:
        csv_module.field_size_limit(before)


def _in_our_words(told: str) -> str:
    """What is wrong with a table; Python's words are about its own options."""
    if "new-line character" in told:
        return "lines end with a carriage return alone; save the file with Unix or Windows lines"
    if "unexpected end of data" in told:
        return "a quotation mark is not closed before the end of the file"
    return told


def _peeked(lines: Iterator[str]) -> tuple[str, Iterator[str]]:
    """The first line, and all of them."""
    first = next(lines, None)
    return ("", lines) if first is None else (first, chain([first], lines))


def _separator(path: Path, header: str) -> str:
    """What separates the columns: mostly the comma; of a file whose header has more of something
    else outside its quotes, that, which is said.
    """
    bare = re.sub(r'"[^"]*"', "", header)
    character = max((",", *SEPARATORS), key=bare.count)
    if character != ",":
        logger.info("%s: columns are separated by %s, not by commas", path, SEPARATORS[character])
    return character


def _record(path: Path, line: int, header: list[str], cells: list[str]) -> dict[str, str]:
    if len(cells) != len(header):
        raise BadData(
            f"{path}, line {line}: {len(cells)} columns where the header has {len(header)}"
        )
    return dict(zip(header, cells, strict=True))


def _lines(path: Path) -> Iterable[tuple[int, str]]:
    """Numbered lines as text; a wrong encoding, a damaged archive or a missing file is an error."""
    number = 0
    try:
        with _open(path) as file:
            for number, raw in enumerate(file, start=1):
                yield number, (raw.removeprefix(BOM) if number == 1 else raw).decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadData(
            f"{path}, line {number}: not UTF-8 (byte {error.start + 1}); save the file as UTF-8"
        ) from None
    except FileNotFoundError:
        raise BadData(f"{path}: no such file") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise BadData(f"{path}: damaged gzip file after line {number} ({error})") from None
    except OSError as error:
        raise BadData(f"{path}: cannot be read ({error.strerror or error})") from None


def _open(path: Path) -> IO[bytes]:
    check_regular_file(path)
    if path.suffix.lower() != ".gz":
        return path.open("rb")
    packed = path.stat().st_size
    return io.BufferedReader(_Unpacked(path, max(LEAST_UNPACKED, MAX_RATIO * packed)))


class _Unpacked(io.RawIOBase):
    """A gzip file that unpacks to a limited number of bytes: a small file must not fill memory."""

    def __init__(self, path: Path, limit: int) -> None:
        self._file = gzip.GzipFile(path, "rb")
        self._left = limit

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        part = self._file.read1(len(buffer))
        self._left -= len(part)
        if self._left < 0:
            raise BadData(
                f"{self._file.name}: unpacks to more than {MAX_RATIO} times its size; "
                "unpack it yourself if that is right"
            )
        buffer[: len(part)] = part
        return len(part)

    def close(self) -> None:
        self._file.close()
        super().close()
