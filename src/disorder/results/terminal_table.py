"""Tables in a terminal: names are never cut, and numbers never wrapped.

Where rows are too wide, each interval goes below its number; where that is still too wide, names
get lines of their own; at last the columns are spread over several tables. Only texts are wrapped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from disorder.results.grid import Cell, Grid
from disorder.visible_text import one_line

GAPS = ("  ", " ")  # between columns
INDENT = 2  # of numbers below their name
SEPARATORS = re.compile(r"(?<=[:,+/])")  # where a name may continue on the next line
LAYOUTS = ((False, False), (True, False), (False, True), (True, True))  # is_stacked, is_above
STYLES = {
    "strong": "bold",
    "ours": "bold",
    "ours-row": "bold",
    "soft": "dim",
    "other": "dim",
    "other-row": "dim",
    "needed": "bold green",
    "open": "bold yellow",
    "unsure": "dim",
}  # by mark


def print_table(console: Console, grid: Grid) -> None:
    """Print a table after a blank line, in the width that there is."""
    console.print()
    if grid.caption:
        console.print(Text(one_line(grid.caption), style="bold"), soft_wrap=True)
    if _has_texts(grid):
        console.print(_wrapped(grid, console.width))
        return
    for line in fitted(grid, console.width):
        console.print(line, soft_wrap=True)


def _has_texts(grid: Grid) -> bool:
    """Whether there is more than one column that may be as long as it likes."""
    return sum(column.kind != "number" for column in grid.columns) > 1


def _wrapped(grid: Grid, width: int) -> RichTable:
    """A table whose names and texts are wrapped where they must be."""
    natural = [
        max(cell_len(text) for text in [column.title, *(row[i].line for row in grid.rows)])
        for i, column in enumerate(grid.columns)
    ]
    is_stacked = sum(natural) + len(natural) > width
    table = RichTable(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for column in grid.columns:
        if column.kind == "number":
            table.add_column(column.title, justify="right", no_wrap=True)
        elif column.kind == "word":
            table.add_column(column.title, no_wrap=True)
        else:
            table.add_column(column.title, overflow="fold", min_width=len(column.title))
    for first, *others in grid.rows:
        texts = ["\n".join(_lines_of(cell, is_stacked=is_stacked)) for cell in others]
        cells = [Text(text, _style(cell)) for text, cell in zip(texts, others, strict=True)]
        table.add_row(Text(_name(first), _style(first)), *cells)
    return table


def _lines_of(cell: Cell, *, is_stacked: bool) -> list[str]:
    """The cell on one line, or on two."""
    return [cell.text, cell.below] if is_stacked and cell.below else [cell.line]


def _name(cell: Cell) -> str:
    """The name of a row; that of a part is indented."""
    return f"{' ' * INDENT}{cell.text}" if cell.mark == "part" else cell.text


def _style(cell: Cell) -> str:
    return STYLES.get(cell.mark, "")


@dataclass(frozen=True)
class Layout:
    """How wide names and columns are, what stands between them, and what stands below what."""

    first: int
    widths: Sequence[int]
    gap: str
    is_stacked: bool
    is_above: bool

    @classmethod
    def of(cls, grid: Grid, gap: str, *, is_stacked: bool, is_above: bool) -> Layout:
        """As wide as a table needs it."""
        names = [grid.columns[0].title, *(_name(row[0]) for row in grid.rows)]
        first = INDENT if is_above else max(map(cell_len, names))
        widths = []
        for i, column in enumerate(grid.columns[1:], 1):
            cells = [_lines_of(row[i], is_stacked=is_stacked) for row in grid.rows]
            texts = [column.title, *(line for lines in cells for line in lines)]
            widths.append(max(map(cell_len, texts)))
        return cls(first, widths, gap, is_stacked, is_above)

    @property
    def width(self) -> int:
        """How wide a line is."""
        return self.first + sum(len(self.gap) + each for each in self.widths)

    def line(self, name: Text, cells: Sequence[Text]) -> Text:
        """A name at the left, cells at the right of their columns."""
        line = Text.assemble(name, " " * (self.first - name.cell_len))
        for cell, width in zip(cells, self.widths, strict=True):
            line.append(self.gap + " " * (width - cell.cell_len)).append_text(cell)
        line.rstrip()
        return line


def fitted(grid: Grid, width: int) -> list[Text]:
    """The lines of a table in the first layout that fits the width, or of several tables."""
    for is_stacked, is_above in LAYOUTS:
        for gap in GAPS:
            layout = Layout.of(grid, gap, is_stacked=is_stacked, is_above=is_above)
            if layout.width <= width:
                return list(_lines(grid, layout, width))
    n = len(grid.columns)
    if n < 3:
        return list(_lines(grid, Layout.of(grid, GAPS[-1], is_stacked=True, is_above=True), width))
    half = n // 2 + 1
    left = fitted(grid.part(1, half), width)
    return [*left, Text(), *fitted(grid.part(half, n), width)]


def _lines(grid: Grid, layout: Layout, width: int) -> Iterator[Text]:
    head, *columns = grid.columns
    if layout.is_above:
        yield from (Text(line, style="bold") for line in broken(head.title, width))
    name = Text("" if layout.is_above else head.title, style="bold")
    yield layout.line(name, [Text(column.title, style="bold") for column in columns])
    yield Text("─" * layout.width)
    for row in grid.rows:
        yield from _row_lines(row, layout, width)


def _row_lines(row: Sequence[Cell], layout: Layout, width: int) -> Iterator[Text]:
    name, *cells = row
    start = Text(_name(name), style=_style(name))
    if layout.is_above:
        yield from (Text(line, style=_style(name)) for line in broken(_name(name), width))
        start = Text()
    shown = [cell.text if layout.is_stacked else cell.line for cell in cells]
    if any(shown) or not layout.is_above:
        styled = [Text(text, style=_style(cell)) for text, cell in zip(shown, cells, strict=True)]
        yield layout.line(start, styled)
    if layout.is_stacked and any(cell.below for cell in cells):
        yield layout.line(Text(), [Text(cell.below, style="dim") for cell in cells])


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
