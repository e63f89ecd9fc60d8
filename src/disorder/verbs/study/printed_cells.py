"""Which printed number stands beside which of ours, and may the two be compared?

They may where model, data and everything else that the row is about are the same. A number about
another model is shown with its name and never compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from disorder.verbs.study.published_numbers import Row, Section
from disorder.verbs.study.result import DIGITS, Cell, Theirs

BY_DRAWS = (
    "omega_max",
    "omega_rand",
    "omega_all",
    "p_f",
    "entropy_f",
)  # what depends on how many permutations are drawn


@dataclass(frozen=True)
class Matching:
    """How rows of ours meet rows of theirs.

    `names` says which published model a spec of ours stands for; `subject` is the published model
    where rows name none (empty: the numbers are about no model), and `data` what they are about
    where rows name none. `q` and `paper_q` are how many permutations we and they drew. `unlike`
    says why no row is the same, `in_part` why no count is, where that is so. `by_code` says which
    of their numbers follow the released code where ours do not, by column or by `key=value` of a
    row: how far they are is shown, and not judged.
    """

    section: Section
    names: Mapping[str, str] = field(default_factory=dict)
    subject: str = ""
    q: int | None = None
    paper_q: int | None = None
    data: Sequence[str] = ()
    unlike: str = ""
    in_part: str = ""
    by_code: Mapping[str, str] = field(default_factory=dict)

    def beside(self, cells: Iterable[Cell]) -> list[Cell]:
        """The cells with what the paper printed for their rows."""
        return [cell.model_copy(update={"theirs": self._theirs(cell)}) for cell in cells]

    def _theirs(self, cell: Cell) -> list[Theirs]:
        found = []
        for row in self.section.rows:
            if cell.column in row.cells and self._is_about(row, cell):
                value = self.section.number(cell.column, row.cells[cell.column])
                if value is not None:
                    found.append(self._judged(cell, row, value))
        return sorted(found, key=lambda each: not each.is_same)

    def _judged(self, cell: Cell, row: Row, value: float) -> Theirs:
        printed, model = row.cells[cell.column], row.about.get("model", self.subject)
        theirs = Theirs(
            model=model, printed=printed, value=round(value, 8), is_same=self._is_same(cell, model)
        )
        if not theirs.is_same:
            return theirs
        is_count = self.section.unit_of(cell.column) == "count"
        if why_not := self.unlike or (is_count and self.in_part) or self._other_draws(cell.column):
            return theirs.model_copy(update={"why_not": why_not})
        slack = self.section.half_step(cell.column, printed)
        low, high = (cell.value if bound is None else bound for bound in (cell.low, cell.high))
        theirs = theirs.model_copy(update={"difference": round(cell.value - value, DIGITS) + 0.0})
        if why_not := self._otherwise(cell):
            return theirs.model_copy(update={"why_not": why_not})
        return theirs.model_copy(update={"is_within": low - slack <= value <= high + slack})

    def _otherwise(self, cell: Cell) -> str:
        """Why the printed number was made by other definitions than ours."""
        names = (cell.column, *(f"{key}={value}" for key, value in cell.row.items()))
        return next((self.by_code[name] for name in names if name in self.by_code), "")

    def _is_same(self, cell: Cell, model: str) -> bool:
        return not model or self.names.get(cell.row.get("model", "")) == model

    def _other_draws(self, column: str) -> str:
        if (
            not column.startswith(BY_DRAWS)
            or None in (self.q, self.paper_q)
            or self.q == self.paper_q
        ):
            return ""
        return f"{self.q} permutations here, {self.paper_q} in the paper"

    def _is_about(self, row: Row, cell: Cell) -> bool:
        """Whether a printed row is about all that a row of ours is about, but for the model."""
        if (
            "data" not in row.about
            and self.data
            and cell.row.get("data", self.data[0]) not in self.data
        ):
            return False
        return all(cell.row.get(key) == value for key, value in row.about.items() if key != "model")
