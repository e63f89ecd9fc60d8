"""A table of audits: rows are models on data (by transformation, where the table has it so),
columns are scores.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from disorder.metrics import ORIGINAL
from disorder.runs import Run
from disorder.transformations import parse
from disorder.types import Score
from disorder.verbs.compare import FinishedRun
from disorder.verbs.study.result import Cell, Portion
from disorder.verbs.study.workbench import Bench, short, title_of
from disorder.verbs.train import accuracy_difference

DELTA = "delta"  # accuracy under a transformation minus that on the same original texts


@dataclass(frozen=True)
class Audits:
    """Audit every model on every set of data.

    `columns` says which score fills a column: a metric of the transformation, or of original texts as
    `original/METRIC`; `delta` is the change of accuracy, paired. With `by_transformation` each
    transformation has its row. `more` is what all rows of the published table say beside.
    """

    columns: Mapping[str, str]
    transformations: Sequence[str] = ("derange",)
    by_transformation: bool = False
    more: Mapping[str, str] = field(default_factory=dict)
    q: int | None = 100
    units: Mapping[str, str] = field(default_factory=dict)

    kind = "audits"
    needs_model = True
    trains = False

    @property
    def does(self) -> str:
        """What it does, in one line."""
        shown = ", ".join(self.transformations[:4]) + (
            ", …" if len(self.transformations) > 4 else ""
        )
        return f"audit each model on each set of data under {shown} (q = {self.q})"

    def __call__(self, bench: Bench) -> Iterator[Portion]:
        """One portion a run."""
        for model, data in bench.pairs():
            run, folder = bench.audit(
                model, data, self.transformations, q=bench.q(self.q), limit=bench.asked.limit
            )
            about = {"model": title_of(model), "data": bench.name_of(data)}
            link = bench.link(f"{short(model)} on {short(data)}", folder / "report.html")
            notes = notes_of(run, about, self.columns.values())
            yield Portion(cells=list(self.cells(run, folder, about)), links=[link], notes=notes)

    def cells(self, run: Run, folder: Path, about: Mapping[str, str]) -> Iterator[Cell]:
        """The cells that a run fills."""
        for spec in self.transformations:
            row = {
                **about,
                **({"transformation": spec} if self.by_transformation else {}),
                **self.more,
            }
            for column, source in self.columns.items():
                score = (
                    None
                    if spec == ORIGINAL and source == DELTA
                    else score_of(run, folder, spec, source)
                )
                if score is not None:
                    yield Cell.of(row, column, score)


def score_of(run: Run, folder: Path, spec: str, source: str) -> Score | None:
    """The score that a column asks for, as the run has it."""
    where, _, metric = source.rpartition("/")
    fidelity: Any = run.settings["fidelity"]
    wanted = where or (ORIGINAL if spec == ORIGINAL else parse(spec, fidelity=fidelity).spec)
    if metric == DELTA:
        return _delta(folder, wanted)
    record = run.score(wanted, metric)
    return (
        None
        if record is None
        else Score(record.value, record.low, record.high, record.n, record.skipped)
    )


def _delta(folder: Path, spec: str) -> Score | None:
    """The change of accuracy on the examples that the transformation applies to, example by
    example.
    """
    audited = FinishedRun.open(folder)
    samples = audited.samples(spec)
    if samples is None:
        return None
    outcomes = audited.outcomes(spec, samples)
    return accuracy_difference(
        outcomes.label[:, 0] == outcomes.gold,
        outcomes.is_right,
        len(audited.examples) - len(outcomes),
    )


def notes_of(run: Run, about: Mapping[str, str], wanted: Iterable[str]) -> list[str]:
    """Which of the wanted scores a run could not give, and why."""
    return [
        f"{short(about['model'])} on {short(about['data'])}: no {each.metric} under {each.transformation} ({each.reason})"
        for each in run.omitted
        if each.group == "all" and each.metric in wanted
    ]
