"""A table as it is shown: columns, rows and cells, written as Markdown or LaTeX here, for terminals
in `terminal`, for pages by the macro `table` of table.html.

Names and texts in cells are untrusted: every writer escapes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from disorder.results.markup import (
    latex_code,
    latex_text,
    latex_title,
    markdown_code,
    markdown_text,
)
from disorder.results.writing import Bounded, bounds, cell_text, fixed, short_bounds

# only numbers stand right; words and numbers are never wrapped, texts are where they must be
ColumnKind = Literal["name", "word", "number", "text"]
LONG = 24  # characters from which on a value is a text rather than a word
STRONG = ("strong", "ours", "needed", "open", "unsure", "clean")  # marks that are set in bold


@dataclass(frozen=True)
class Column:
    """The head of a column."""

    title: str
    kind: ColumnKind = "number"


@dataclass(frozen=True)
class Cell:
    """A text, and its interval or whatever else may stand below it: that is of our own words.

    `mark` says how it stands out: strong, soft or code, part (of the row above), or a class of a
    page's style.
    """

    text: str = ""
    below: str = ""
    mark: str = ""
    brief: str = ""  # what stands below where space is short

    @classmethod
    def of(cls, score: Bounded | None, missing: str = "", note: str = "") -> Cell:
        """A score with its interval, and a note behind that."""
        if score is None:
            return cls(missing)
        below = f"{bounds(score)} {note}".rstrip()
        return cls(fixed(score.value), below, brief=short_bounds(score))

    @property
    def line(self) -> str:
        """The cell on one line."""
        return f"{self.text} {self.below}".rstrip()


@dataclass(frozen=True)
class Grid:
    """Rows of cells under their columns."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    caption: str = ""

    @classmethod
    def of_texts(cls, rows: Sequence[Sequence[str]], caption: str = "", n_names: int = 1) -> Grid:
        """A table of plain texts, the first row of which is the head; names come first."""
        head, *others = rows
        columns = [
            Column(title, "name" if i < n_names else "number") for i, title in enumerate(head)
        ]
        return cls(columns, [[Cell(text) for text in row] for row in others], caption)

    @classmethod
    def of_data(cls, rows: Sequence[Mapping[str, Any]], caption: str = "") -> Grid:
        """A table of values by the name of their column; the first row has all names."""
        names = list(rows[0])
        long = {
            name
            for row in rows
            for name, value in row.items()
            if isinstance(value, str) and len(value) > LONG
        }
        columns = [
            Column(name, "text" if name in long else "number" if i else "name")
            for i, name in enumerate(names)
        ]
        cells = [[Cell(cell_text(row.get(name))) for name in names] for row in rows]
        return cls(columns, cells, caption)

    @property
    def brief(self) -> Grid:
        """The same with what stands below its numbers as short as it can be said."""
        rows = [
            [replace(cell, below=cell.brief) if cell.brief else cell for cell in row]
            for row in self.rows
        ]
        return replace(self, rows=rows)

    def part(self, start: int, stop: int) -> Grid:
        """The same rows with their names and some of the other columns."""
        columns = [self.columns[0], *self.columns[start:stop]]
        rows = [[row[0], *row[start:stop]] for row in self.rows]
        return replace(self, columns=columns, rows=rows)


def as_markdown(grid: Grid) -> list[str]:
    """The lines of a table in Markdown."""
    rules = ["---:" if column.kind == "number" else "---" for column in grid.columns]
    lines = [[markdown_text(column.title) for column in grid.columns], rules]
    lines += [[_markdown(cell) for cell in row] for row in grid.rows]
    return [f"| {' | '.join(cells)} |" for cells in lines]


def _markdown(cell: Cell) -> str:
    if cell.mark == "code":
        return markdown_code(cell.text, in_table=True)
    text = markdown_text(cell.text)
    shown = f"**{text}**" if text and cell.mark in STRONG else text
    return f"{shown} {cell.below}".strip()


def as_latex(grid: Grid, caption: str, label: str) -> str:
    """A table for a paper (booktabs); caption and label are LaTeX already."""
    columns = "".join("r" if column.kind == "number" else "l" for column in grid.columns)
    lines = [
        r"% needs \usepackage{booktabs}",
        r"\begin{table}",
        r"  \centering",
        rf"  \caption{{{caption}}}",
        rf"  \label{{{label}}}",
        rf"  \begin{{tabular}}{{{columns}}}",
        r"    \toprule",
        f"    {_latex_row([latex_title(column.title) for column in grid.columns])}",
        r"    \midrule",
        *(f"    {_latex_row([_latex(cell) for cell in row])}" for row in grid.rows),
        r"    \bottomrule",
        r"  \end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _latex_row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _latex(cell: Cell) -> str:
    text = latex_code(cell.text) if cell.mark == "code" else latex_title(cell.text)
    shown = rf"\textbf{{{text}}}" if text and cell.mark in STRONG else text
    below = rf" {{\small {latex_text(cell.below)}}}" if cell.below else ""
    return f"{shown}{below}"
