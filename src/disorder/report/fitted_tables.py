"""Tables that fit a terminal: names are never cut, and numbers never wrapped.

Where rows are too wide, each interval goes below its number; where that is still too wide, names
get lines of their own; at last the columns are spread over several tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rich.cells import cell_len
from rich.text import Text

GAPS = ("  ", " ")  # between columns
INDENT = 2  # of numbers below their name
SEPARATORS = re.compile(r"(?<=[:,+/])")  # where a name may continue on the next line
LAYOUTS = ((False, False), (True, False), (False, True), (True, True))  # is_stacked, is_above


@dataclass(frozen=True)
class Cell:
    """A number as text, and its interval, or whatever else may stand below it."""

    number: str = ""
    below: str = ""

    def lines(self, *, is_stacked: bool) -> list[str]:
        """The cell on one line, or on two."""
        if is_stacked:
            return [self.number, self.below]
        return [f"{self.number} {self.below}".rstrip()]


@dataclass(frozen=True)
class NamedRow:
    """One row of a table."""

    name: str
    cells: Sequence[Cell]


@dataclass(frozen=True)
class ScoreTable:
    """Named rows of numbers under the heads of their columns."""

    head: str
    columns: Sequence[str]
    rows: Sequence[NamedRow]

    def part(self, start: int, stop: int) -> ScoreTable:
        """The same rows with some of the columns."""
        rows = [replace(row, cells=row.cells[start:stop]) for row in self.rows]
        return replace(self, columns=self.columns[start:stop], rows=rows)

    def widths(self, *, is_stacked: bool) -> list[int]:
        """How wide each column is."""
        return [
            max(cell_len(text) for text in [head, *self._texts(i, is_stacked=is_stacked)])
            for i, head in enumerate(self.columns)
        ]

    def _texts(self, column: int, *, is_stacked: bool) -> Iterator[str]:
        for row in self.rows:
            yield from row.cells[column].lines(is_stacked=is_stacked)

    @property
    def name_width(self) -> int:
        """How wide the column of names is."""
        return max(cell_len(name) for name in [self.head, *(row.name for row in self.rows)])


@dataclass(frozen=True)
class Layout:
    """How wide names and columns are, and what stands between them."""

    first: int
    widths: Sequence[int]
    gap: str

    @property
    def width(self) -> int:
        """How wide a line is."""
        return self.first + sum(len(self.gap) + each for each in self.widths)

    def line(self, name: str, cells: Sequence[str], *, style: str = "") -> Text:
        """A name at the left, cells at the right of their columns."""
        padded = [
            " " * (width - cell_len(cell)) + cell
            for cell, width in zip(cells, self.widths, strict=True)
        ]
        start = name + " " * (self.first - cell_len(name))
        return Text(self.gap.join([start, *padded]).rstrip(), style=style)


def fitted(table: ScoreTable, width: int) -> list[Text]:
    """The lines of a table in the first layout that fits the width, or of several tables."""
    for is_stacked, is_above in LAYOUTS:
        first = INDENT if is_above else table.name_width
        for gap in GAPS:
            layout = Layout(first, table.widths(is_stacked=is_stacked), gap)
            if layout.width <= width:
                return list(_lines(table, layout, width, is_stacked=is_stacked, is_above=is_above))
    n = len(table.columns)
    if n < 2:
        layout = Layout(INDENT, table.widths(is_stacked=True), GAPS[-1])
        return list(_lines(table, layout, width, is_stacked=True, is_above=True))
    half = (n + 1) // 2
    left = fitted(table.part(0, half), width)
    return [*left, Text(), *fitted(table.part(half, n), width)]


def _lines(
    table: ScoreTable, layout: Layout, width: int, *, is_stacked: bool, is_above: bool
) -> Iterator[Text]:
    if is_above:
        yield from (Text(line, style="bold") for line in broken(table.head, width))
    yield layout.line("" if is_above else table.head, table.columns, style="bold")
    yield Text("─" * layout.width)
    for row in table.rows:
        if is_above:
            yield from map(Text, broken(row.name, width))
        by_line = zip(*(cell.lines(is_stacked=is_stacked) for cell in row.cells), strict=True)
        for number, cells in enumerate(by_line):
            if number == 0 or any(cells):
                name = "" if is_above or number else row.name
                yield layout.line(name, cells, style="dim" if number else "")


def broken(name: str, width: int) -> Iterator[str]:
    """A name in lines, which end after a separator; only a piece wider than a line is cut.

    >>> list(broken("drop_pos:tags=NOUN+reverse", 20))
    ['drop_pos:tags=NOUN+', 'reverse']
    """
    line = ""
    for piece in SEPARATORS.split(name):
        if line and cell_len(line + piece) > width:
            yield line
            line = ""
        line += piece
        while cell_len(line) > width:
            yield line[:width]
            line = line[width:]
    yield line
