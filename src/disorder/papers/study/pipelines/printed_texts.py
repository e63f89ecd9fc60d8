"""Texts with what a model predicts for them: examples whose prediction stays although it should
not, or changes; and those that a paper prints, predicted again word for word.

The confidence of a printed text can be compared with the printed one, which no other example’s can.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from disorder.errors import DisorderError
from disorder.metrics import share
from disorder.models import LoadedModel, load
from disorder.papers.study.part_settings import spec_in_run
from disorder.papers.study.pipeline import Measurement, Pipeline, Reach
from disorder.papers.study.pipelines.explanation_table import ExplanationTable
from disorder.papers.study.published_tables import PrintedText, published_tables
from disorder.papers.study.result import DIGITS, StepResult, StudyCell, StudyPicture
from disorder.papers.study.verbs_used import audited_pairs
from disorder.papers.study.workbench import GivenRun, Workbench, short_name, title_of
from disorder.randomness import digest
from disorder.requests.settings import Settings
from disorder.results.run import Run
from disorder.specs import split_spec
from disorder.transformations import parse
from disorder.transformations.rendering import variant_texts
from disorder.types import Dataset, Example, Ints, Outcomes, Task, Texts
from disorder.types.predictions import ABSTAINED, predicted_label, with_abstention
from disorder.verbs.compare import FinishedRun
from disorder.verbs.explain import Subject, text_versions, versions_figure
from disorder.verbs.outcomes import gold_of

KEPT = "prediction stays"
LOST = "prediction changes"
N_SHOWN = 3  # examples of each kind
N_VARIANTS = 2  # perturbed texts of each


@dataclass(frozen=True)
class ExampleTexts(Pipeline):
    """Audit every model on every set of data, and show texts: of examples predicted right, some
    under all of whose variants the prediction stays, and some where it changes.
    """

    transformation: str
    q: int | None = 1

    kind = "audits"
    takes_runs = True

    says = (
        "show examples predicted right whose texts perturbed by {self.transformation} get the "
        "same prediction, and some that do not"
    )

    @property
    def reach(self) -> Sequence[Reach]:
        """The confidence of every text shown."""
        keys = ("shown", "example", "texts", "text a", "text b", "label")
        return [Reach(("confidence",), dict.fromkeys(keys))]

    def __call__(self, bench: Workbench) -> Iterator[StepResult]:
        """One step per run."""
        for each in audited_pairs(bench, self.perturbs, q=self.q, short="use"):
            spec = spec_in_run(each.run, self.transformation) or self.transformation
            shown = ShownExamples.of(each.folder, spec)
            yield StepResult(
                cells=list(shown.cells(each.about)),
                links=[bench.link(each.name, each.folder / "report.html")],
                notes=[f"{each.name}: {shown.summary}"],
            )


@dataclass(frozen=True, eq=False)
class ShownExamples:
    """The examples of a run that are shown, with what the model predicted for each text."""

    finished: FinishedRun
    spec: str
    outcomes: Outcomes

    @classmethod
    def of(cls, folder: Path, spec: str) -> ShownExamples:
        """Those of a finished run."""
        finished = FinishedRun.open(folder)
        outcomes = finished.outcomes(spec)
        assert outcomes is not None, "an audit without any text raises before"
        return cls(finished, spec, outcomes)

    @property
    def summary(self) -> str:
        """How often the prediction stays, so that examples are not taken for the rule."""
        kept = int(self._is_kept.sum())
        right = int(self.outcomes.is_right.sum())
        return f"of {right:,} examples predicted right {kept:,} stay so under every variant"

    @property
    def _is_kept(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        outcomes = self.outcomes
        return np.asarray(outcomes.is_right & (outcomes.n_accepted == outcomes.n_variants))

    def cells(self, about: Mapping[str, str]) -> Iterator[StudyCell]:
        """One row per text: the original one, then perturbed ones."""
        is_lost = np.asarray(self.outcomes.is_right & ~self._is_kept)
        for name, mask in ((KEPT, self._is_kept), (LOST, is_lost)):
            for place in self._drawn(np.flatnonzero(mask)):
                yield from self._rows(place, {**about, "shown": name})

    def _drawn(self, places: Ints) -> list[int]:
        """A few of these examples, drawn by seed."""
        seed = self.outcomes.seed
        names = self.outcomes.example
        key = {int(i): digest(seed, "shown", str(names[i])) for i in places}
        return sorted(key, key=lambda i: key[i])[:N_SHOWN]

    def _rows(self, place: int, about: Mapping[str, str]) -> Iterator[StudyCell]:
        outcomes = self.outcomes
        name = str(outcomes.example[place])
        example = next(each for each in self.finished.examples if each.id == name)
        predictions = [outcomes.original[place], *outcomes.predictions[place]]
        labels = [outcomes.original_label[place], *outcomes.label[place]]
        for i, text in enumerate([example.texts, *self._perturbed(example)]):
            label = int(labels[i])
            names = (*outcomes.task.labels, ABSTAINED)
            row = {
                **about,
                "example": name,
                "texts": "original" if i == 0 else f"perturbed {i}",
                "text a": text[0],
                "text b": text[1] or "",
                "label": names[label],
            }
            value = round(float(np.nanmax(predictions[i])), DIGITS)
            yield StudyCell(row=row, column="confidence", value=value, n=1)

    def _perturbed(self, example: Example) -> list[Texts]:
        run = self.finished.run
        variants = parse(self.spec).apply(
            example,
            task=run.full_task,
            q=int(run.settings["q"]),
            seed=run.seed,
            short=str(run.settings["short"]),
        )
        return list(variant_texts(variants))[:N_VARIANTS]


CONFIDENCE = "confidence"
# models that a run may name: never code, which a run from elsewhere could bring
LOADED = ("hf", "onnx", "builtin", "bow", "bilstm", "infersent", "convnet", "esim", "transformer")


def texts_of(published: Path, table: str) -> Sequence[PrintedText]:
    """The texts that a table or figure prints."""
    return published_tables(published.resolve())[table].texts


def printed_reach(texts: Sequence[PrintedText]) -> Reach:
    """The cells that predictions for these texts fill; which label depends on the model."""
    keys = dict.fromkeys(key for text in texts for key in text.about)
    rows = {key: {text.about[key] for text in texts if key in text.about} for key in keys}
    return Reach((CONFIDENCE,), {**rows, "label": None})


def predicted_cells(
    model: Any, task: Task, texts: Sequence[PrintedText], about: Mapping[str, str], **how: Any
) -> Iterator[StudyCell]:
    """What the model predicts for each text: the label in the row, its probability in the cell."""
    loaded = load(model, task=task, **how)
    predictions = loaded([(text.text_a, text.text_b) for text in texts])
    names = (*task.labels, ABSTAINED)
    columns = predicted_label(predictions).astype(int).tolist()
    tops = with_abstention(predictions).max(axis=-1).tolist()
    for text, column, top in zip(texts, columns, tops, strict=True):
        row = {**about, **text.about, "label": names[column]}
        yield StudyCell(row=row, column=CONFIDENCE, value=round(top, DIGITS), n=1)


@dataclass(frozen=True)
class PrintedTexts(Measurement):
    """A measurement that also predicts the printed texts of its data."""

    published: Path
    table: str
    measures: Measurement

    @property
    def texts(self) -> Sequence[PrintedText]:
        """The texts of the table or figure."""
        return texts_of(self.published, self.table)

    @property
    def transformations(self) -> Sequence[str]:
        """How other texts of the data are perturbed."""
        return self.measures.transformations

    @property
    def metrics(self) -> Collection[str]:
        """The scores whose absence is worth a note."""
        return self.measures.metrics

    says = "predict the printed texts, and {self.measures.does}"

    @property
    def reach(self) -> Sequence[Reach]:
        """The cells of the printed texts, and those of the measurement."""
        return [printed_reach(self.texts), *self.measures.reach]

    def cells(self, run: Run, folder: Path, about: Mapping[str, str]) -> Iterator[StudyCell]:
        """The printed texts first, then the means over the data."""
        named = (about["data"], run.data)  # a file that stands in for a set has its own name
        mine = [text for text in self.texts if text.data in ("", *named)]
        if mine and split_spec(run.model)[0] in LOADED:
            printed = {**about, "data": mine[0].data or about["data"]}
            yield from predicted_cells(run.model, run.full_task, mine, printed)
        yield from self.measures.cells(run, folder, about)


@dataclass(frozen=True)
class PrintedFigure(Pipeline):
    """Predict and draw the printed texts with every model, and examples of the data beside them:
    one whose prediction stays under every shuffle, and one whose prediction changes.
    """

    published: Path
    table: str
    figures: Sequence[ExplanationTable] = field(default_factory=tuple)

    kind = "explanation"

    @property
    def texts(self) -> Sequence[PrintedText]:
        """The texts of the figure."""
        return texts_of(self.published, self.table)

    @property
    def does(self) -> str:
        """What it does, in one line."""
        drawn = " and ".join(figure.by for figure in self.figures)
        return (
            f"predict and draw the printed texts; explain each model on each set of data by {drawn}"
        )

    @property
    def q(self) -> int | None:
        """How many shuffles of other texts are drawn."""
        return self.figures[0].q

    @property
    def perturbs(self) -> Sequence[str]:
        """How other texts are perturbed."""
        return list(dict.fromkeys(spec for figure in self.figures for spec in figure.perturbs))

    @property
    def explains(self) -> Sequence[str]:
        """The explanations that are drawn."""
        return [figure.by for figure in self.figures]

    @property
    def reach(self) -> Sequence[Reach]:
        """The printed texts, and the accuracy on the data."""
        return [printed_reach(self.texts), Reach(("accuracy",))]

    def __call__(self, bench: Workbench) -> Iterator[StepResult]:
        """One step per model and set of data."""
        for model, data in bench.pairs():
            compute = partial(self._computed, bench, model, data)
            made_of = bench.made_of(model=model, data=data, limit=bench.settings.limit)
            yield bench.once(compute, model, data, made_of=made_of)

    def _computed(self, bench: Workbench, model: Any, data: Any) -> StepResult:
        if isinstance(model, GivenRun):
            raise DisorderError("the printed texts need the model itself")
        dataset = bench.read(data, limit=bench.settings.limit)
        about = {"model": title_of(model), "data": bench.name_of(data)}
        labels = bench.labels_of(model)
        printed = {**about, "data": title_of(data)}  # the same words, whatever file stands in
        result = StepResult(
            cells=list(predicted_cells(model, dataset.task, self.texts, printed, labels=labels))
        )
        loaded = load(model, task=dataset.task, labels=labels)
        result.pictures.append(self._drawn(bench, loaded, dataset, short_name(model)))
        predictions = loaded([example.texts for example in dataset.examples])
        is_right = predicted_label(predictions) == gold_of(dataset.task, dataset.examples)
        result.cells.append(StudyCell.of(about, "accuracy", share(is_right)))
        result.notes.append(
            f"{short_name(model)}: the {len(self.texts)} printed texts, predicted word for word"
        )
        for figure in self.figures:
            try:  # heads of a model that has none
                found = figure.explained(bench, model, data)
            except DisorderError as reason:
                result.notes.append(f"{figure.by}: not drawn ({reason})")
                continue
            result.pictures += found.pictures
            result.links += found.links
            result.notes += found.notes
        return result

    def _drawn(
        self, bench: Workbench, loaded: LoadedModel, dataset: Dataset, model: str
    ) -> StudyPicture:
        """The printed texts in one picture, as this model sees them."""
        subject = Subject(
            loaded, dataset, Settings(seed=bench.settings.seed, fidelity=bench.fidelity, q=100)
        )
        named: list[tuple[str, Texts]] = [
            (", ".join(text.about.values()), (text.text_a, text.text_b)) for text in self.texts
        ]
        figure = versions_figure(
            "printed", text_versions(subject, named), f"{model}, printed texts"
        )
        return StudyPicture(name=figure.name, caption=figure.caption, svg=figure.svg)
