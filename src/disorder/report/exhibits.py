"""Exhibits: the pictures and tables of a page, each with the rows that it is made of."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from disorder.errors import DisorderError
from disorder.report import charts
from disorder.runs.storage import cannot_write, write_named_file

Row = dict[str, Any]
# ending → from an SVG to the content of a file
FORMATS: dict[str, Callable[[str], bytes]] = {
    ".svg": lambda drawn: drawn.encode(),
    ".pdf": charts.pdf,
    ".png": charts.png,
}


@dataclass(frozen=True)
class Figure:
    """A picture and the rows it is made of.

    `spec` is Vega-Lite without data, which `rows` fill in, so the CSV is what is drawn; or `drawn`
    is an SVG of your own.
    """

    name: str
    caption: str
    rows: Sequence[Row]
    spec: Mapping[str, Any] = field(default_factory=dict)
    drawn: str = ""

    @cached_property
    def svg(self) -> str:
        """The picture."""
        return self.drawn or charts.svg({"data": {"values": list(self.rows)}} | dict(self.spec))


@dataclass(frozen=True)
class Picture:
    """An SVG that a notebook displays, and that can be saved as SVG, PDF or PNG."""

    svg: str = field(repr=False)

    def save(self, path: str | Path) -> Path:
        """Write the picture, as SVG, PDF or PNG by the ending of `path`; returns the path."""
        path = Path(path)
        if path.suffix not in FORMATS:
            raise DisorderError(f"{path}: end the name of a picture in {' or '.join(FORMATS)}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise cannot_write(path, error) from None
        write_named_file(path, FORMATS[path.suffix](self.svg))
        return path

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        return f'<div style="max-width: 100%; overflow-x: auto">{self.svg}</div>'


@dataclass(frozen=True)
class Table:
    """Rows to read and to export; a page shows the first of them."""

    name: str
    caption: str
    rows: Sequence[Row]


def as_csv(rows: Sequence[Row]) -> bytes:
    """Rows as CSV; columns in the order they first appear in."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    sink = io.StringIO()
    writer = csv.DictWriter(sink, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return sink.getvalue().encode("utf-8", "backslashreplace")
