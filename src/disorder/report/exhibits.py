"""What does a page show and its folder keep beside it? Pictures and tables, each with the rows that
it is made of.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

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
