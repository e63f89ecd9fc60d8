"""The records of a comparison, as comparison.json holds them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, Field

from disorder.results.row_export import data_frame
from disorder.results.run import Omitted
from disorder.store.storage import write_atomically

if TYPE_CHECKING:
    from disorder.results.result import Result

SCHEMA_VERSION = 1
ALPHA = 0.05


class Difference(BaseModel):
    """One score of two runs: the other's minus the base's, with its 95 % interval."""

    transformation: str
    metric: str
    group: str
    base: str
    other: str
    base_value: float
    other_value: float
    difference: float
    low: float
    high: float
    p: float
    p_holm: float
    n: int
    test: str
    family: Literal["main", "other", "all"] = "all"  # the tests that p_holm is corrected for

    @property
    def is_sure(self) -> bool:
        """Whether the difference is significant after Holm's correction for its family of tests."""
        return self.p_holm < ALPHA


ComparisonKind = Literal["higher", "lower", "same", "undecided"]


class ComparisonConclusion(BaseModel):
    """What the comparison of two runs says: on the skill that is kept without word order, and on
    accuracy, each of the other run against the base. Where the skill cannot be compared it is None,
    and `because` says why.
    """

    base: str
    other: str
    group: str
    transformation: str
    order: ComparisonKind
    accuracy: ComparisonKind
    skill_kept: Difference | None
    original: Difference
    because: str = ""


class Compared(BaseModel):
    """One of the runs."""

    name: str
    folder: str
    model: str
    model_hash: str


class Comparison(BaseModel):
    """Runs on the same examples and the same permutations, and how their scores differ."""

    schema_version: int = SCHEMA_VERSION
    data: str
    n_examples: int
    audit_seed: int
    seed: int
    runs: list[Compared]
    main: str = ""  # the transformation that the conclusion is about
    has_chosen: bool = False  # whether the user named scores or transformations
    conclusions: list[ComparisonConclusion] = Field(default_factory=list)
    differences: list[Difference] = Field(default_factory=list)
    omitted: list[Omitted] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)

    @property
    def pairs(self) -> Iterator[tuple[str, str, str, list[Difference]]]:
        """Base, other and group, with their differences."""
        for key in dict.fromkeys((d.base, d.other, d.group) for d in self.differences):
            yield *key, [d for d in self.differences if (d.base, d.other, d.group) == key]

    def to_frame(self) -> Any:
        """The differences as a pandas (or polars) data frame."""
        return data_frame([difference.model_dump() for difference in self.differences])

    def save(self, path: str | Path) -> Path:
        """Write the comparison: as JSON, or as a page where the name ends in .html."""
        from disorder.results.render import as_json, page

        target = Path(path)
        text = page(self.result) if target.suffix == ".html" else as_json(self.result)
        write_atomically(target, text.encode("utf-8", "backslashreplace"))
        return target

    @property
    def result(self) -> Result:
        """The envelope, from which page and record are made."""
        from disorder.results.comparison_page import result_of

        return result_of(self)

    def as_data(self) -> dict[str, Any]:
        """All that was compared, as plain data."""
        return self.model_dump(exclude={"schema_version"})

    def _repr_html_(self) -> str:
        from disorder.results.render import framed, page

        return framed(page(self.result, in_folder=False))

    def __repr__(self) -> str:
        from disorder.results.comparison_table import about, headline

        return f"Comparison({about(self)})\n{headline(self)}"

    __str__ = __repr__
