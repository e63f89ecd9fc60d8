"""The result of a verb: one envelope for all of them, with the verb's own type as its body.

What a person reads is in it as data (headline, sections with figures and tables, caveats, next
steps), so that one place renders it, and result.json holds it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, Literal, Protocol, TypeVar

from disorder.errors import DisorderError
from disorder.results import drawing
from disorder.results.row_export import csv_text
from disorder.results.writing import Bounded, bounds, cell_text, fixed, short_bounds
from disorder.store.storage import cannot_write, write_named_file

Row = dict[str, Any]
SHOWN = 12  # rows of a table on a page
# ending → from an SVG to the content of a file
FORMATS: dict[str, Callable[[str], bytes]] = {
    ".svg": lambda drawn: drawn.encode(),
    ".pdf": drawing.pdf,
    ".png": drawing.png,
}


# only numbers stand right; words and numbers are never wrapped, texts are where they must be
ColumnKind = Literal["name", "word", "number", "text"]
LONG = 24  # characters from which on a value is a text rather than a word


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
    """Rows of cells under their columns; `name` is the label that a paper refers to."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    caption: str = ""
    name: str = ""

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
        return self.drawn or drawing.svg({"data": {"values": list(self.rows)}} | dict(self.spec))


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


SCHEMA_VERSION = 2
Found = TypeVar("Found")  # what the part behind a section gives, where there is one
NAMES = {"name", "spec", "asks"}  # all that a section has that only explains others


class Body(Protocol):
    """What a verb gives beside the envelope."""

    def as_data(self) -> Mapping[str, Any]:
        """Its own facts as plain data."""


class PlainBody(dict[str, Any]):
    """A body that is plain data."""

    def as_data(self) -> Mapping[str, Any]:
        """Itself."""
        return self


@dataclass(frozen=True)
class NextStep:
    """A command that may be typed next, and what it is good for."""

    command: str
    why: str


@dataclass(frozen=True)
class Section(Generic[Found]):
    """One question of a result and what was found, or the reason why nothing was.

    `found` is what the part behind it gave back, `spec` that part as requested; `about` says where
    the question comes from, `findings` are lines with numbers, `grids` tables as they are shown,
    `tables` rows to export, `terms` what words mean, `commands` what to type.
    """

    name: str
    asks: str
    about: str = ""
    found: Found | None = None
    reason: str = ""
    spec: str = ""
    findings: Sequence[str] = ()
    grids: Sequence[Grid] = ()
    figures: Sequence[Figure] = ()
    tables: Sequence[Table] = ()
    notes: Sequence[str] = ()
    terms: Mapping[str, str] = field(default_factory=dict)
    commands: Sequence[str] = ()
    links: Mapping[str, str] = field(default_factory=dict)  # title → page
    examples: Sequence[Row] = ()  # of texts and what became of them
    is_folded: bool = False

    @property
    def line(self) -> str:
        """What was found, or why there is nothing."""
        return f"not shown: {self.reason}" if self.reason else "; ".join(self.findings)

    def as_data(self) -> Row:
        """The section as plain data; texts that only explain it are left to the page."""
        data = {
            "name": self.name,
            "spec": self.spec,
            "asks": self.asks,
            "reason": self.reason,
            "findings": list(self.findings),
            "figures": [_exhibit(figure) for figure in self.figures if figure.name],
            "tables": [_exhibit(table) for table in self.tables],
            "notes": list(self.notes),
        }
        return {name: value for name, value in data.items() if value}


def _exhibit(exhibit: Figure | Table) -> Row:
    return {"name": exhibit.name, "caption": exhibit.caption, "rows": list(exhibit.rows)}


@dataclass(frozen=True)
class Result:
    """What a verb found.

    `about` names model, data and size in one line; `headline` is the conclusion in words, one line
    or more, `lead` what qualifies it; `grids` are the tables that a reader needs first, `examples`
    texts that show it. `body` is the verb's own type. What `is_summarised` is one screen in the
    terminal, unless all is wanted.
    """

    verb: str
    about: str
    headline: str
    request: Mapping[str, Any]
    body: Body
    conclusion: Any = None
    records: Sequence[Row] = ()
    lead: Sequence[str] = ()
    caveats: Sequence[str] = ()
    grids: Sequence[Grid] = ()
    examples: Sequence[Row] = ()
    picture: Figure | None = None
    sections: Sequence[Section[Any]] = ()
    notes: Sequence[str] = ()
    next_steps: Sequence[NextStep] = ()
    links: Mapping[str, str] = field(default_factory=dict)  # title → page beside this one
    command: str = ""  # repeats it
    facts: Mapping[str, str] = field(default_factory=dict)  # data, model, versions
    is_summarised: bool = False
    title: str = ""  # of its Markdown
    level: int = 2  # of that title
    paper: Sequence[Grid] = ()  # its tables in LaTeX, where they are not those that come first
    template: str = "page.html"  # of its page
    card: Mapping[str, Any] = field(default_factory=dict)  # metadata before it

    @property
    def figures(self) -> list[Figure]:
        """Every figure that has a file, in the order of the page."""
        return [figure for each in self.sections for figure in each.figures if figure.name]

    @property
    def tables(self) -> list[Table]:
        """Every table to export, in the order of the page."""
        return [table for section in self.sections for table in section.tables]

    def as_data(self) -> Row:
        """What result.json holds: the envelope, and the body's own names beside it."""
        sections = [section.as_data() for section in self.sections]
        return {
            "schema_version": SCHEMA_VERSION,
            "verb": self.verb,
            **self.body.as_data(),
            "request": dict(self.request),
            "command": self.command,
            "headline": self.headline,
            "conclusion": self.conclusion,
            "scores": list(self.records),
            "sections": [data for data in sections if not data.keys() <= NAMES],
            "caveats": list(self.caveats),
            "next_steps": [asdict(step) for step in self.next_steps],
        }
