"""Matching: which printed number stands beside which of ours, and may the two be compared?

They may where model, data and everything else that the row is about are the same. A number about
another model is shown with its name and never compared.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from disorder.papers.study.published_tables import PublishedRow, PublishedTable
from disorder.papers.study.result import DIGITS, PublishedNumber, StudyCell

# scores that depend on how many permutations are drawn
BY_DRAWS = ("omega", "p_f", "entropy_f")
# what a printed row says about the number itself: no row of ours says it
STATED = ("model", "source", "bound", "heads")
LABEL = "label"  # what the model predicts for a printed text: ours may predict another


@dataclass(frozen=True)
class TableMatcher:
    """How rows of ours are matched with printed rows.

    `names` says which published model a spec of ours stands for; `subject` is the published model
    where rows name none (empty: the numbers are about no model), and `data` what they are about
    where rows name none. `q` and `paper_q` are how many permutations we and the paper drew.
    `not_comparable` says why no row is about the same, `partial_counts` why no count is. `by_code`
    says which printed numbers follow the released code where ours do not, by column or by
    `key=value` of a row: the difference is shown, and not judged. `by_draws` are columns that
    depend on q, beside the scores that are known to.
    """

    table: PublishedTable
    names: Mapping[str, str] = field(default_factory=dict)
    subject: str = ""
    q: int | None = None
    paper_q: int | None = None
    data: Sequence[str] = ()
    not_comparable: str = ""
    partial_counts: str = ""
    by_code: Mapping[str, str] = field(default_factory=dict)
    by_draws: Collection[str] = ()

    def match(self, cells: Iterable[StudyCell]) -> list[StudyCell]:
        """The cells with what the paper printed for their rows."""
        return [cell.model_copy(update={"theirs": self._theirs(cell)}) for cell in cells]

    def _theirs(self, cell: StudyCell) -> list[PublishedNumber]:
        found = []
        for row in self.table.rows:
            if cell.column not in row.cells or not self._is_about(row, cell):
                continue
            value = self.table.number(cell.column, row.cells[cell.column])
            if value is not None:
                found.append(self._judged(cell, row, value))
        return sorted(found, key=lambda each: not each.is_same)

    def _judged(self, cell: StudyCell, row: PublishedRow, value: float) -> PublishedNumber:
        printed = row.cells[cell.column]
        model = row.about.get("model", self.subject)
        theirs = PublishedNumber(
            model=model,
            printed=printed,
            value=round(value, 8),
            is_same=self._is_same(cell, model),
            label=row.about.get(LABEL, "") if self.table.texts else "",
        )
        if not theirs.is_same:
            return theirs
        if reason := self._why_not_compared(cell.column):
            return theirs.model_copy(update={"why_not": reason})
        difference = round(cell.value - value, DIGITS) + 0.0
        theirs = theirs.model_copy(update={"difference": difference})
        if reason := self._why_not_judged(cell, row):
            return theirs.model_copy(update={"why_not": reason})
        slack = self.table.half_step(cell.column, printed)
        low, high = cell.bounds
        return theirs.model_copy(update={"is_within": low - slack <= value <= high + slack})

    def _why_not_compared(self, column: str) -> str:
        is_count = self.table.unit_of(column) == "count"
        return (
            self.not_comparable
            or (self.partial_counts if is_count else "")
            or self._why_other_draws(column)
        )

    def _why_not_judged(self, cell: StudyCell, row: PublishedRow) -> str:
        """Why the printed number was made by other definitions than ours, or is no number but a
        bound.
        """
        label = row.about.get(LABEL, "") if self.table.texts else ""
        if label and label != cell.row.get(LABEL):
            return f"printed is the confidence in another label, {label}"
        if bound := row.about.get("bound"):
            return f"the text states a bound, {bound} that"
        names = (cell.column, *(f"{key}={value}" for key, value in cell.row.items()))
        return next((self.by_code[name] for name in names if name in self.by_code), "")

    def _is_same(self, cell: StudyCell, model: str) -> bool:
        return not model or self.names.get(cell.row.get("model", "")) == model

    def other_draws(self, columns: Iterable[str]) -> dict[str, tuple[int, int]]:
        """The columns that depend on how many permutations are drawn, where we and the paper drew
        other numbers, with both.
        """
        if self.q is None or self.paper_q is None or self.q == self.paper_q:
            return {}
        drawn = (self.q, self.paper_q)
        return {
            column: drawn
            for column in columns
            if column.startswith(BY_DRAWS) or column in self.by_draws
        }

    def _why_other_draws(self, column: str) -> str:
        found = self.other_draws([column]).get(column)
        return f"{found[0]} permutations here, {found[1]} in the paper" if found else ""

    def _is_about(self, row: PublishedRow, cell: StudyCell) -> bool:
        """Whether a printed row is about all that a row of ours is about, but for the model."""
        names_data = "data" in row.about or not self.data
        if not names_data and cell.row.get("data", self.data[0]) not in self.data:
            return False
        stated: tuple[str, ...] = STATED
        if self.table.texts and LABEL in row.about:  # of one text; means have no label
            if LABEL not in cell.row:
                return False
            stated = (*STATED, LABEL)
        about = {key: value for key, value in row.about.items() if key not in stated}
        return all(cell.row.get(key) == value for key, value in about.items())
