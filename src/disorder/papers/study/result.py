"""Results of a study: our numbers with their intervals, beside what the paper printed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, Field, model_validator

from disorder.errors import NothingToMeasure
from disorder.results.render import render
from disorder.results.result import Result
from disorder.types import Score

SCHEMA_VERSION = 1
DIGITS = 6
NEAR = 0.005  # counts that differ by less are said to be near, beside those that are equal


class PublishedNumber(BaseModel):
    """A printed number that stands beside a cell of ours.

    `difference` (ours minus theirs) is there only where both are about the same model and data, and
    `is_within` only where both were made by the same definitions too. `label` is what the paper's
    model predicts, where the number is a confidence in it.
    """

    model: str
    printed: str
    value: float
    is_same: bool
    why_not: str = ""
    difference: float | None = None
    is_within: bool | None = None
    label: str = ""

    @property
    def is_near(self) -> bool:
        """Whether a count differs by at most `NEAR` of what is printed."""
        return self.difference is not None and abs(self.difference) <= NEAR * abs(self.value)


class StudyCell(BaseModel):
    """One number of ours: what its row is about, its column, its value; counts have no interval."""

    row: dict[str, str]
    column: str
    value: float
    low: float | None = None
    high: float | None = None
    n: int = 0
    skipped: int = 0
    by_seed: list[float] = Field(default_factory=list)
    theirs: list[PublishedNumber] = Field(default_factory=list)

    @model_validator(mode="after")
    def _without_empty_interval(self) -> Self:
        """A maximum, or the score of one word, has no interval: its ends are the value."""
        if self.low is not None and self.low == self.high:
            self.low = self.high = None
        return self

    @classmethod
    def of(cls, row: Mapping[str, str], column: str, score: Score) -> StudyCell:
        """A cell that is a score."""
        numbers = (score.value, score.low, score.high)
        value, low, high = (round(float(number), DIGITS) + 0.0 for number in numbers)
        n, skipped = score.n, score.skipped
        return cls(
            row=dict(row), column=column, value=value, low=low, high=high, n=n, skipped=skipped
        )

    @property
    def same(self) -> PublishedNumber | None:
        """The printed number that is about the same model and data."""
        return next((each for each in self.theirs if each.is_same), None)

    @property
    def bounds(self) -> tuple[float, float]:
        """The interval; of a count, the count itself."""
        low = self.value if self.low is None else self.low
        high = self.value if self.high is None else self.high
        return low, high


class StudyPicture(BaseModel):
    """A figure of the study, as SVG."""

    name: str
    caption: str
    svg: str


class StudyLink(BaseModel):
    """A run, training or explanation of the study; `page` is relative to the study's folder."""

    title: str
    page: str


class StepResult(BaseModel):
    """What one step of a pipeline found, kept in a file; `made_of`: of which data and model."""

    made_of: dict[str, str] = Field(default_factory=dict)
    cells: list[StudyCell] = Field(default_factory=list)
    pictures: list[StudyPicture] = Field(default_factory=list)
    links: list[StudyLink] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)


class Study(BaseModel):
    """A table or figure of a paper, computed again; result.json holds it (without pictures).

    `study.records` are all numbers as a flat list, `study.cell("p_c", data="mnli:matched")` is one
    of them, `study.verdict` says how well they agree with the paper's. A notebook shows the table.
    `draws` has the columns that depend on how many permutations are drawn, where that differs: ours
    and the paper's number.
    """

    schema_version: int = SCHEMA_VERSION
    item: str
    title: str
    kind: str
    does: str
    status: Literal["started", "done"] = "started"
    request: dict[str, Any]
    columns: list[str] = Field(default_factory=list)
    units: dict[str, str] = Field(default_factory=dict)
    draws: dict[str, tuple[int, int]] = Field(default_factory=dict)
    cells: list[StudyCell] = Field(default_factory=list)
    published: list[dict[str, Any]] = Field(default_factory=list)
    remarks: list[str] = Field(default_factory=list)
    links: list[StudyLink] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)
    commands: list[str] = Field(default_factory=list)
    pictures: list[StudyPicture] = Field(default_factory=list)
    version: str = version("disorder")

    def cell(self, column: str, **row: str) -> StudyCell:
        """The first cell of a column whose row says all this: `cell("p_c", data="snli:dev")`."""
        for cell in self.cells:
            is_about = all(cell.row.get(key) == value for key, value in row.items())
            if cell.column == column and is_about:
                return cell
        about = ", ".join(row.values()) or "any row"
        raise NothingToMeasure(f"{self.item} has no {column} for {about}")

    @property
    def rows(self) -> Iterator[tuple[dict[str, str], dict[str, StudyCell]]]:
        """Each row of ours with its cells by column."""
        found: dict[tuple[tuple[str, str], ...], dict[str, StudyCell]] = {}
        for cell in self.cells:
            found.setdefault(tuple(cell.row.items()), {})[cell.column] = cell
        for key, cells in found.items():
            yield dict(key), cells

    @property
    def records(self) -> list[dict[str, Any]]:
        """All numbers as a flat list of dictionaries, ready for `pandas.DataFrame`.

        One record per number of ours; `published` is the printed number about the same model and
        data, on the scale of `value`, where there is one.
        """
        keys = dict.fromkeys(key for cell in self.cells for key in cell.row)
        return [_record(cell, list(keys)) for cell in self.cells]

    @property
    def verdict(self) -> str:
        """How well ours and theirs agree, in one line."""
        if not self.cells:
            return VERDICT_WITHOUT_CELLS.get(self.kind, "a picture, without numbers to compare")
        matched = [cell for cell in self.cells if cell.same is not None]
        same = [cell.same for cell in matched if cell.same is not None]
        judged = [each for each in same if each.is_within is not None]
        if judged:
            n_within = sum(bool(each.is_within) for each in judged)
            of = f"{n_within} of {len(judged)} published numbers"
            if any(self.units.get(cell.column) != "count" for cell in matched):
                return f"{of} lie in our 95 % intervals"
            n_near = sum(each.is_near for each in judged)
            near = f"; within {100 * NEAR:g} %: {n_near} of {len(judged)}"
            return f"{of} equal ours{near if n_within < len(judged) else ''}"
        n = sum(each.difference is not None for each in same)
        if n:
            numbers = "number stands" if n == 1 else "numbers stand"
            return f"{n} published {numbers} against ours; none can be judged, see why below"
        if same:
            return "the published numbers of these rows are not compared, see why below"
        if any(cell.theirs for cell in self.cells):
            return (
                "no published row is about the same model and data: "
                "the paper's numbers stand beside ours, not against them"
            )
        return "no published number is about these rows"

    @property
    def result(self) -> Result:
        """The envelope, from which page and record are made."""
        from disorder.papers.study.folder import result_of

        return result_of(self)

    def as_data(self) -> dict[str, Any]:
        """All numbers beside the printed ones, as plain data."""
        return {
            **self.model_dump(exclude={"pictures"}),
            "verdict": self.verdict if self.status == "done" else "",
        }

    def save(self, folder: str | Path) -> Path:
        """Write result.json, study.csv, study.md and report.html into a folder; returns the folder.

        Runs and trainings are kept only by `disorder.study(..., out=folder)`.
        """
        from disorder.papers.study.folder import save_study  # it renders this class

        return save_study(Path(folder), self)

    def __repr__(self) -> str:
        return render(self.result, "terminal").rstrip()

    def __str__(self) -> str:
        return repr(self)

    def _repr_html_(self) -> str:
        return render(self.result, "notebook")


VERDICT_WITHOUT_CELLS = {
    "people": "people answer this one: see the commands",
    "drawing": "nothing is measured here",
}


def _record(cell: StudyCell, keys: list[str]) -> dict[str, Any]:
    theirs = cell.same
    names = ("column", "value", "low", "high", "n", "skipped")
    return {
        **{key: cell.row.get(key) for key in keys},
        **{name: getattr(cell, name) for name in names},
        "published": theirs and theirs.value,
        "published_model": theirs and theirs.model,
        "difference": theirs and theirs.difference,
        "is_within": theirs and theirs.is_within,
    }
