"""Rows for other programs: as CSV that a spreadsheet only shows, and as a data frame.

In CSV no cell is a formula: texts that begin like one get an apostrophe before them, which
spreadsheets take for "this is text"; `cell_text` takes it away again. Escape sequences come out as
symbols, but for files that other programs read.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from disorder.errors import DisorderError
from disorder.safe_io import visible

FORMULA = re.compile(r"'*[=+\-@\t\r＝＋－＠]")
MARKED = re.compile(r"'+[=+\-@\t\r＝＋－＠]")
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)


def csv_text(
    columns: Sequence[str], rows: Iterable[Iterable[Any]], *, is_exact: bool = False
) -> str:
    """Rows of values below the names of their columns; with `is_exact` escape sequences are left
    as they are.
    """
    return "".join(_line(row, is_exact) for row in chain([columns], rows))


def cell_text(cell: str) -> str:
    """What stands in a cell that `csv_text` wrote.

    >>> cell_text("'=1+1"), cell_text("'tis")
    ('=1+1', "'tis")
    """
    return cell[1:] if MARKED.match(cell) else cell


def _line(row: Iterable[Any], is_exact: bool) -> str:
    sink = io.StringIO(newline="")
    # a carriage return in a text is put in quotes only where lines end with one
    csv.writer(sink, lineterminator="\r\n").writerow([_cell(value, is_exact) for value in row])
    return sink.getvalue().removesuffix("\r\n") + "\n"


def _cell(value: Any, is_exact: bool) -> Any:
    if not isinstance(value, str):
        return value
    shown = value if is_exact else visible(value)
    is_formula = FORMULA.match(shown) and not NUMBER.fullmatch(shown)
    return f"'{shown}" if is_formula else shown


def table_bytes(table: pa.Table, path: Path) -> bytes:
    """An Arrow table as the file that a path names: .csv, .jsonl or .parquet."""
    rows = table.to_pylist()
    if path.suffix == ".csv":
        columns = table.column_names
        written = ([_in_a_cell(row[name]) for name in columns] for row in rows)
        return csv_text(columns, written).encode("utf-8", "backslashreplace")
    if path.suffix == ".jsonl":
        lines = (json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows)
        return "".join(lines).encode()
    if path.suffix == ".parquet":
        import pyarrow.parquet

        sink = pa.BufferOutputStream()
        pyarrow.parquet.write_table(table, sink)
        return bytes(sink.getvalue().to_pybytes())
    raise DisorderError(f"{path}: name a file that ends in .csv, .jsonl or .parquet")


def _in_a_cell(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value


LIBRARIES = ("pandas", "polars")


def data_frame(rows: Sequence[Mapping[str, Any]]) -> Any:
    """The rows as a pandas data frame, or a polars one where only polars is installed."""
    for name in LIBRARIES:
        if find_spec(name) is not None:
            return import_module(name).DataFrame(list(rows))
    raise DisorderError("to_frame needs pandas or polars: pip install pandas")
