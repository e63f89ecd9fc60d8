"""The conclusion of a run as data: its kind, the number behind it, why, and what to mind.

Sentences are made of it in results/verdict.py; docs/conclusions.md says how it is drawn.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field, FiniteFloat, NonNegativeInt, model_validator

MAIN = "derange"  # what conclusions and rules are about where it was measured: every word moves
ConclusionKind = Literal[
    "reads_order",
    "reads_or_mixed",
    "mixed",
    "mixed_or_bag",
    "bag_of_words",
    "bag_or_misled",
    "order_not_used",
    "misled_by_order",
    "surface",
    "undecided",
    "no_skill",
    "one_label",
    "one_gold_label",
]


class AnswerTable(BaseModel):
    """How many examples get each answer, before and after a transformation, by gold label."""

    labels: list[str]
    answers: list[str]
    gold: list[NonNegativeInt]
    before: list[FiniteFloat]
    after: list[FiniteFloat]
    confusion: dict[Literal["before", "after"], list[list[FiniteFloat]]] | None = None

    @model_validator(mode="after")
    def has_one_shape(self) -> AnswerTable:
        """One row per label, one column per answer, and at least one example."""
        rows, columns = len(self.labels), len(self.answers)
        tables = (
            []
            if self.confusion is None
            else [self.confusion.get("before"), self.confusion.get("after")]
        )
        if any(
            table is None or len(table) != rows or any(len(row) != columns for row in table)
            for table in tables
        ):
            raise ValueError("a confusion matrix of another shape than its labels")
        if len(self.gold) != rows or not len(self.before) == len(self.after) == columns:
            raise ValueError("answers of another number than their labels")
        if not sum(self.gold):
            raise ValueError("answers to no example")
        return self


class Caveat(BaseModel):
    """Something about the data or the run that a reader of the conclusion should know."""

    kind: str
    text: str

    def __str__(self) -> str:
        return self.text


class Conclusion(BaseModel):
    """What a run says about one group of examples under one transformation.

    `value`, `low` and `high` are those of `skill_kept`, None where there is no skill to keep.
    `more_examples` says about how many more would decide what is undecided.
    """

    kind: ConclusionKind
    value: float | None = None
    low: float | None = None
    high: float | None = None
    because: str
    caveats: list[Caveat] = Field(default_factory=list)
    group: str = "all"
    transformation: str
    n: int
    more_examples: int | None = None


class WordBaseline(BaseModel):
    """Balanced accuracy on original texts of a bag of words trained on the same data by
    cross-fitting, beside the model's own.
    """

    group: str = "all"
    value: float
    low: float
    high: float
    n: int
    model: float
    chance: float
