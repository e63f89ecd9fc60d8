"""What does a study give back? Cells: our number with its interval, what the paper printed, and
whether the two agree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from pydantic import BaseModel, Field

from disorder import __version__
from disorder.errors import NothingToMeasure
from disorder.types import Score

SCHEMA_VERSION = 1
DIGITS = 6


class Theirs(BaseModel):
    """A printed number that stands beside a cell of ours.

    There is a `difference` only where it is about the same, and `is_within` only where it was made
    by the same definitions too.
    """

    model: str
    printed: str
    value: float
    is_same: bool
    why_not: str = ""
    difference: float | None = None
    is_within: bool | None = None


class Cell(BaseModel):
    """One number of ours: what its row is about, its column, its value; counts have no interval."""

    row: dict[str, str]
    column: str
    value: float
    low: float | None = None
    high: float | None = None
    n: int = 0
    skipped: int = 0
    by_seed: list[float] = Field(default_factory=list)
    theirs: list[Theirs] = Field(default_factory=list)

    @classmethod
    def of(cls, row: Mapping[str, str], column: str, score: Score) -> Cell:
        """A cell that is a score."""
        value, low, high = (
            round(float(x), DIGITS) + 0.0 for x in (score.value, score.low, score.high)
        )
        return cls(
            row=dict(row),
            column=column,
            value=value,
            low=low,
            high=high,
            n=score.n,
            skipped=score.skipped,
        )

    @property
    def same(self) -> Theirs | None:
        """The printed number that is about the same model and data."""
        return next((each for each in self.theirs if each.is_same), None)


class Picture(BaseModel):
    """A figure of the study, as SVG."""

    name: str
    caption: str
    svg: str


class Link(BaseModel):
    """Something made on the way: a run, a training, an explanation; `page` is relative to the
    study's folder.
    """

    title: str
    page: str


class Portion(BaseModel):
    """What one step of a pipeline found: kept in a file, so that a study can go on where it
    stopped.

    `made_of` are the fingerprints of the data and the model that it was made from.
    """

    made_of: dict[str, str] = Field(default_factory=dict)
    cells: list[Cell] = Field(default_factory=list)
    pictures: list[Picture] = Field(default_factory=list)
    links: list[Link] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)


class Study(BaseModel):
    """All that is known of a study, as study.json holds it (pictures lie in its page)."""

    schema_version: int = SCHEMA_VERSION
    item: str
    title: str
    kind: str
    does: str
    status: Literal["started", "done"] = "started"
    request: dict[str, Any]
    columns: list[str] = Field(default_factory=list)
    units: dict[str, str] = Field(default_factory=dict)
    cells: list[Cell] = Field(default_factory=list)
    published: list[dict[str, Any]] = Field(default_factory=list)
    remarks: list[str] = Field(default_factory=list)
    links: list[Link] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)
    commands: list[str] = Field(default_factory=list)
    pictures: list[Picture] = Field(default_factory=list)
    version: str = __version__

    def cell(self, column: str, **row: str) -> Cell:
        """The cell of a column whose row is about all this, e.g. `cell("p_c",
        model="builtin:bow")`.
        """
        for cell in self.cells:
            if cell.column == column and all(
                cell.row.get(key) == value for key, value in row.items()
            ):
                return cell
        raise NothingToMeasure(
            f"{self.item} has no {column} for {', '.join(row.values()) or 'any row'}"
        )

    @property
    def rows(self) -> Iterator[tuple[dict[str, str], dict[str, Cell]]]:
        """Each row of ours with its cells by column."""
        found: dict[tuple[tuple[str, str], ...], dict[str, Cell]] = {}
        for cell in self.cells:
            found.setdefault(tuple(cell.row.items()), {})[cell.column] = cell
        yield from ((dict(key), cells) for key, cells in found.items())

    @property
    def verdict(self) -> str:
        """How well ours and theirs agree, in one line."""
        judged = [
            cell.same.is_within
            for cell in self.cells
            if cell.same and cell.same.is_within is not None
        ]
        if judged:
            where = (
                "equal ours"
                if all(cell.low is None for cell in self.cells if cell.same)
                else "lie in our 95 % intervals"
            )
            return f"{sum(judged)} of {len(judged)} published numbers {where}"
        if not self.cells:
            return {
                "people": "people answer this one: see the commands",
                "drawing": "nothing is measured here",
            }.get(self.kind, "a picture, without numbers to compare")
        if n := sum(
            cell.same is not None and cell.same.difference is not None for cell in self.cells
        ):
            return f"{n} published number{'s stand' if n > 1 else ' stands'} against ours; none can be judged, see why below"
        if any(cell.theirs for cell in self.cells):
            return "no published row is about the same model and data: the paper's numbers stand beside ours, not against them"
        return "the paper printed no number for these rows"
