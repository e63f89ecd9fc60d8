"""Tables of audits: rows are models on data (per transformation or language, where the table has it
so), columns are scores.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from disorder.data import read_by_language
from disorder.languages import AUTO
from disorder.papers.study.part_settings import spec_in_run
from disorder.papers.study.pipeline import Measurement, Pipeline, Reach
from disorder.papers.study.result import StepResult, StudyCell
from disorder.papers.study.verbs_used import StudiedRun, audited_pairs
from disorder.papers.study.workbench import OneLanguage, Workbench, raw_data, short_name, title_of
from disorder.papers.training import accuracy_difference
from disorder.results.run import Run
from disorder.types import ORIGINAL, Dataset, Score
from disorder.verbs.compare import FinishedRun

DELTA = "delta"  # accuracy under a transformation minus that on the same original texts


@dataclass(frozen=True)
class AuditTable(Pipeline, Measurement):
    """Audit every model on every set of data.

    `columns` says which score fills a column: a metric of the transformation, or of original texts
    as `original/METRIC`; `delta` is the paired change of accuracy. With `by_transformation` each
    transformation has its own row. `more` is what all rows of the published table say beside.
    """

    columns: Mapping[str, str]
    transformations: Sequence[str] = ("derange",)
    by_transformation: bool = False
    more: Mapping[str, str] = field(default_factory=dict)
    q: int | None = 100

    kind = "audits"
    takes_runs = True

    @property
    def does(self) -> str:
        """What it does, in one line."""
        if all(source.startswith(f"{ORIGINAL}/") for source in self.columns.values()):
            return "audit each model on the original texts of each set of data"
        shown = ", ".join(self.transformations[:4])
        rest = ", …" if len(self.transformations) > 4 else ""
        return f"audit each model on each set of data under {shown}{rest}"

    @property
    def perturbs(self) -> Sequence[str]:
        """The transformations whose rows and scores it has."""
        return [spec for spec in self.transformations if spec != ORIGINAL]

    @property
    def reach(self) -> Sequence[Reach]:
        """Its columns, for each transformation where those have rows."""
        rows: dict[str, Sequence[str]] = {key: (value,) for key, value in self.more.items()}
        if self.by_transformation:
            rows["transformation"] = tuple(self.transformations)
        return [Reach(tuple(self.columns), rows)]

    @property
    def curtails(self) -> Sequence[str]:
        """Its scores, where all of them are known as soon as Ω is decided; else nothing."""
        is_exact = (
            all(name.startswith(("omega", "original/")) for name in self.columns.values())
            and not self.by_transformation
        )
        return [name.rpartition("/")[2] for name in self.columns.values()] if is_exact else ()

    @property
    def metrics(self) -> Collection[str]:
        """The scores that its columns need, as runs name them."""
        return self.columns.values()

    def __call__(self, bench: Workbench) -> Iterator[StepResult]:
        """One step per run."""
        for each in audited_pairs(bench, self.transformations, q=self.q, curtails=self.curtails):
            about = self.about(each)
            yield StepResult(
                cells=list(self.cells(each.run, each.folder, about)),
                links=[bench.link(each.name, each.folder / "report.html")],
                notes=missing_scores(each.run, about, self.metrics),
            )

    def about(self, each: StudiedRun) -> Mapping[str, str]:
        """What the rows of a run say beside their numbers."""
        return each.about

    def cells(self, run: Run, folder: Path, about: Mapping[str, str]) -> Iterator[StudyCell]:
        """The cells that a run fills."""
        for spec in self.transformations:
            row = {**about, **self.more}
            if self.by_transformation:
                row = {**about, "transformation": spec, **self.more}
            for column, source in self.columns.items():
                score = score_of(run, folder, spec, source)
                if score is not None:
                    yield StudyCell.of(row, column, score)


def score_of(run: Run, folder: Path, spec: str, source: str) -> Score | None:
    """The score that a column needs, as the run has it; None where it has none."""
    where, _, metric = source.rpartition("/")
    canonical = spec_in_run(run, spec)
    if canonical is None:
        return None
    if metric == DELTA:
        return None if spec == ORIGINAL else _delta(folder, canonical)
    record = run.score(where or canonical, metric)
    if record is None:
        return None
    return Score(record.value, record.low, record.high, record.n, record.skipped)


def _delta(folder: Path, spec: str) -> Score | None:
    """The paired change of accuracy on the examples that the transformation applies to."""
    finished = FinishedRun.open(folder)
    outcomes = finished.outcomes(spec)
    if outcomes is None:
        return None
    n_skipped = len(finished.examples) - len(outcomes)
    return accuracy_difference(outcomes.label[:, 0] == outcomes.gold, outcomes.is_right, n_skipped)


def missing_scores(run: Run, about: Mapping[str, str], wanted: Collection[str]) -> list[str]:
    """Which of the wanted scores a run could not give, and why."""
    what = f"{short_name(about['model'])} on {short_name(about['data'])}"
    language = about.get("language")
    if language and language not in about["data"].split(":"):  # the name may say it already
        what += f" ({language})"
    return [
        f"{what}: no {each.metric} under {each.transformation} ({each.reason})"
        for each in run.omitted
        if each.group == "all" and each.metric in wanted
    ]


@dataclass(frozen=True)
class LanguageTable(AuditTable):
    """Audit every model on every language of every set of data, which a column `language`, the data
    or its texts tell.
    """

    @property
    def does(self) -> str:
        """What it does, in one line."""
        return f"{super().does}, one language at a time"

    @property
    def reach(self) -> Sequence[Reach]:
        """Its columns, for any language."""
        return [replace(each, rows={**each.rows, "language": None}) for each in super().reach]

    def step_names(self, bench: Workbench) -> Sequence[str]:
        """What each step is called: a model, and data in one language."""
        return super().step_names(by_language(bench))

    def __call__(self, bench: Workbench) -> Iterator[StepResult]:
        """One step per run."""
        return super().__call__(by_language(bench))

    def about(self, each: StudiedRun) -> dict[str, str]:
        """What its rows say: model, data and language."""
        return {**each.about, "language": each.run.language}


def by_language(bench: Workbench) -> Workbench:
    """The same with a set of data for every language, where rows say which they are in."""
    return replace(bench, data=[part for data in bench.data for part in _languages(bench, data)])


def _languages(bench: Workbench, data: Any) -> Sequence[Any]:
    """The languages of some data; the data itself where its rows do not say, or the user does."""
    settings = bench.settings
    if settings.language != AUTO or isinstance(raw_data(data), Dataset):
        return [data]
    key = f"{title_of(data)} by language"
    if key not in bench.sources:
        bench.sources[key] = read_by_language(
            raw_data(data),
            columns=settings.columns,
            data_dir=settings.data_dir,
            task=settings.task,
        )
    found = bench.sources[key].items()
    name = bench.name_of(data)
    return [OneLanguage(f"{name}, {code}", part, name) for code, part in found] or [data]
