"""What does a page show and its folder keep beside it? Pictures and tables, each with the rows that
it is made of.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from disorder.errors import DisorderError
from disorder.report import charts

Row = dict[str, Any]


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
    """A picture on its own: a notebook displays it, `save` writes it as SVG or PNG."""

    svg: str

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | Path) -> Path:
        """Write the picture, as the ending of the name says (.svg or .png)."""
        target = Path(path)
        if target.suffix == ".svg":
            target.write_text(self.svg, encoding="utf-8")
        elif target.suffix == ".png":
            target.write_bytes(charts.png(self.svg))
        else:
            raise DisorderError(f"{target}: end the name in .svg or .png")
        return target


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
