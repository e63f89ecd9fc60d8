"""Exhibits: the pictures and tables of a page, each with the rows that it is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from disorder.errors import DisorderError
from disorder.results import charts
from disorder.results.csv_text import csv_text
from disorder.results.grid import Grid
from disorder.store.storage import cannot_write, write_named_file

Row = dict[str, Any]
SHOWN = 12  # rows of a table on a page
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

    @property
    def grid(self) -> Grid:
        """The rows that a page shows."""
        return Grid.of_data(self.rows[:SHOWN])

    @property
    def n_hidden(self) -> int:
        """How many rows a page does not show."""
        return max(0, len(self.rows) - SHOWN)


def as_csv(rows: Sequence[Row]) -> bytes:
    """Rows as CSV; columns in the order they first appear in."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    text = csv_text(columns, ([row.get(name, "") for name in columns] for row in rows))
    return text.encode("utf-8", "backslashreplace")
