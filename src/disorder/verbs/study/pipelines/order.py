"""What is left of right answers when words move? Out of Order's question, on dev-r: simple,
answered right, balanced.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from disorder.errors import NothingToMeasure
from disorder.metrics import ORIGINAL, dev_r, measure
from disorder.runs import Run
from disorder.transformations import parse
from disorder.types import Outcomes
from disorder.verbs.compare import FinishedRun
from disorder.verbs.study.pipelines.audits import score_of
from disorder.verbs.study.result import Cell

SHUFFLES = ("shuffle_ngrams:n=1", "shuffle_ngrams:n=2", "shuffle_ngrams:n=3")
MOVES = ("swap_nouns", *SHUFFLES)
STEPS = {"one sentence": "step1", "right": "step2", "balanced": "step3"}


@dataclass(frozen=True)
class Order:
    """Accuracy, confidence and Word-Order Sensitivity on dev-r; where numbers are asked for,
    Spearman's correlation.

    Numbers are neither right nor in classes: their dev-r is what is simple.

    With `by_transformation` there is a row for each transformation and one for the original texts of
    dev-r.
    """

    transformations: Sequence[str] = MOVES
    by_transformation: bool = True
    q: int | None = 10

    metrics = ("wos", "spearman")

    @property
    def does(self) -> str:
        """What it does, in one line."""
        return f"ask about {', '.join(self.transformations)} on dev-r, up to q = {self.q}"

    def cells(self, run: Run, folder: Path, about: Mapping[str, str]) -> Iterator[Cell]:
        """What is left, original texts first."""
        order = (ORIGINAL, *self.transformations)
        found = [*self._scored(run, folder, about), *self._counted(run, folder, about)]
        yield from sorted(
            found,
            key=lambda cell: (
                order.index(cell.row["transformation"]) if self.by_transformation else 0
            ),
        )

    def _scored(self, run: Run, folder: Path, about: Mapping[str, str]) -> Iterator[Cell]:
        """What the run measured itself."""
        for spec in (
            (ORIGINAL, *self.transformations) if self.by_transformation else self.transformations
        ):
            row = {**about, "transformation": spec} if self.by_transformation else about
            score = score_of(run, folder, spec, "wos")
            if score is not None:
                yield Cell.of(row, "wos", score)

    def _counted(self, run: Run, folder: Path, about: Mapping[str, str]) -> Iterator[Cell]:
        """Accuracy and confidence on dev-r alone; of numbers, the rank correlation where there is
        one.
        """
        for outcomes, row in self._on_dev_r(folder, about):
            for metric in (
                ("spearman",) if outcomes.task.is_regression else ("accuracy", "confidence")
            ):
                with suppress(NothingToMeasure):
                    yield Cell.of(row, metric, measure(metric, outcomes))

    def _on_dev_r(
        self, folder: Path, about: Mapping[str, str]
    ) -> Iterator[tuple[Outcomes, Mapping[str, str]]]:
        """The answers on dev-r; original texts once, those that the first shuffle leaves there."""
        whole = self.by_transformation
        for spec, outcomes in outcomes_of(folder, self.transformations):
            kept = outcomes.take(
                outcomes.is_simple if outcomes.task.is_regression else dev_r(outcomes)[-1][1]
            )
            if whole and len(kept) and spec in SHUFFLES:
                yield (
                    replace(kept, predictions=kept.original[:, None, :]),
                    {**about, "transformation": ORIGINAL},
                )
                whole = False
            if len(kept):
                yield kept, {**about, "transformation": spec} if self.by_transformation else about


@dataclass(frozen=True)
class Filters:
    """How many examples of each label each step leaves that makes dev-r."""

    transformations: Sequence[str] = SHUFFLES[:1]
    q: int | None = 1
    does = "count the examples that are simple, answered right, and kept when classes are balanced"

    def cells(self, run: Run, folder: Path, about: Mapping[str, str]) -> Iterator[Cell]:
        """Counts, without intervals."""
        audited = FinishedRun.open(folder)
        [(_, outcomes)] = outcomes_of(folder, self.transformations)
        if audited.run.asked.is_regression:
            n = int(outcomes.is_simple.sum())
            counts = {"dev": len(audited.examples), "step1": n, "total": n}
            yield from (
                Cell(row=dict(about), column=column, value=count)
                for column, count in counts.items()
            )
            return
        steps = dev_r(outcomes)
        for i, label in enumerate(audited.run.asked.labels):
            row = {**about, "label": label}
            yield Cell(
                row=row,
                column="dev",
                value=sum(example.label == label for example in audited.examples),
            )
            for step, kept in steps:
                yield Cell(
                    row=row, column=STEPS[step], value=int((kept & (outcomes.gold == i)).sum())
                )
        yield Cell(row={**about, "label": "all"}, column="total", value=int(steps[-1][1].sum()))


def outcomes_of(folder: Path, specs: Sequence[str]) -> Iterator[tuple[str, Outcomes]]:
    """What the model answered, transformation by transformation; those that no text could be perturbed
    by are left out.
    """
    audited = FinishedRun.open(folder)
    asked = {record.transformation for record in audited.run.scores}
    for spec in specs:
        own = parse(spec, fidelity=audited.fidelity).spec
        samples = audited.samples(own) if own in asked else None
        if samples is not None:
            yield spec, audited.outcomes(own, samples)
