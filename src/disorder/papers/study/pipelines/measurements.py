"""Measurements of the papers: scores on dev-r, the test set of Out of Order (simple texts,
predicted correctly, classes balanced), and those of Word Salad, with the means of the paper.

What one sentence is, Out of Order asked the splitter of NLTK (Punkt). Its data is not installed
everywhere, and scores must not depend on what is installed: the rules of `disorder` are used unless
the user says `--set dev_r.sentences=punkt`, which is recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Self

import numpy as np

from disorder.errors import BadSetting, NothingToMeasure
from disorder.metrics import Metric, dev_r, is_one_sentence, measure, resampled
from disorder.metrics.agreement import unchanged
from disorder.metrics.confidence import top_probability
from disorder.papers.study.part_settings import PartSettings, spec_in_run
from disorder.papers.study.pipeline import Measurement, Reach
from disorder.papers.study.pipelines.audit_table import score_of
from disorder.papers.study.result import DIGITS, StudyCell
from disorder.results.run import Run
from disorder.transformations import parse
from disorder.transformations.words.nltk_sentences import is_one_punkt_sentence
from disorder.types import ORIGINAL, Floats, Ints, Outcomes, Score
from disorder.verbs.compare import FinishedRun
from disorder.verbs.outcomes import simple_examples

NAME = "dev_r"
RULES = "rules"
SPLITTERS: Mapping[str, Callable[[str], bool]] = MappingProxyType(
    {RULES: is_one_sentence, "punkt": is_one_punkt_sentence}
)


@dataclass(frozen=True)
class DevRFilter(Measurement):
    """What measurements on dev-r share: `sentences` names who says what one sentence is."""

    sentences: str = field(default=RULES, kw_only=True)

    own_settings = MappingProxyType({NAME: ("sentences",)})

    def tuned(self, given: PartSettings) -> Self:
        """The same with the user's `dev_r.sentences`; raises where the splitter is not here."""
        chosen = given.get(NAME, {}).get("sentences", self.sentences)
        if chosen not in SPLITTERS:
            raise BadSetting(NAME, sentences=chosen, need=" or ".join(SPLITTERS))
        SPLITTERS[chosen]("One.")
        return replace(self, sentences=chosen)

    def outcomes(self, folder: Path, specs: Sequence[str]) -> Iterator[tuple[str, Outcomes]]:
        """The predictions of a run, per transformation, with the examples that are simple."""
        for spec, found in outcomes_of(folder, specs):
            yield spec, found if self.sentences == RULES else self._filtered(folder, found)

    def _filtered(self, folder: Path, found: Outcomes) -> Outcomes:
        finished = FinishedRun.open(folder)
        by_id = {example.id: example for example in finished.examples}
        is_simple = simple_examples(
            found.task,
            [by_id[name] for name in found.example.tolist()],
            parse(found.transformation),
            found.fidelity,
            SPLITTERS[self.sentences],
        )
        return replace(found, is_simple=is_simple)


def outcomes_of(folder: Path, specs: Sequence[str]) -> Iterator[tuple[str, Outcomes]]:
    """The predictions of a run, per transformation; those that apply to no text are left out."""
    finished = FinishedRun.open(folder)
    scored = {record.transformation for record in finished.run.scores}
    for spec in specs:
        canonical = spec_in_run(finished.run, spec)
        if canonical is None or canonical not in scored:
            continue
        outcomes = finished.outcomes(canonical)
        if outcomes is not None:
            yield spec, outcomes


SHUFFLES = ("shuffle_ngrams:n=1", "shuffle_ngrams:n=2", "shuffle_ngrams:n=3")
MOVES = ("swap_nouns", *SHUFFLES)
STEPS = {"one sentence": "step1", "right": "step2", "balanced": "step3"}


@dataclass(frozen=True)
class DevRScores(DevRFilter):
    """Accuracy, confidence and Word-Order Sensitivity on dev-r; for numbers, rank correlation.

    Numbers are neither correct nor in classes: their dev-r is what is simple. With
    `by_transformation` there is one row per transformation and one for the original texts of dev-r.
    With `whole` there is the accuracy on the whole development set too.
    """

    transformations: Sequence[str] = MOVES
    by_transformation: bool = True
    whole: bool = False
    q: int | None = 10

    metrics = ("wos", "spearman")

    @property
    def does(self) -> str:
        """What it does, in one line."""
        return f"test under {', '.join(self.transformations)} on dev-r"

    @property
    def reach(self) -> Sequence[Reach]:
        """The scores, for each transformation where those have rows."""
        columns = ("accuracy", "confidence", "spearman", "chance", "wos")
        rows = {"transformation": (ORIGINAL, *self.transformations)}
        found = [Reach(columns, rows if self.by_transformation else {})]
        return [*found, Reach(("dev_accuracy",))] if self.whole else found

    def cells(self, run: Run, folder: Path, about: Mapping[str, str]) -> Iterator[StudyCell]:
        """The scores, original texts first."""
        if self.whole and (accuracy := score_of(run, folder, ORIGINAL, "accuracy")):
            yield StudyCell.of(about, "dev_accuracy", accuracy)
        found = list(self._scores(folder, about))
        if not self.by_transformation:
            yield from found
            return
        labels = run.full_task.labels
        if labels and found:
            row = {**about, "transformation": ORIGINAL}
            yield StudyCell(row=row, column="chance", value=round(1 / len(labels), DIGITS))
        order = (ORIGINAL, *self.transformations)
        yield from sorted(found, key=lambda cell: order.index(cell.row["transformation"]))

    def _row(self, about: Mapping[str, str], spec: str) -> Mapping[str, str]:
        return {**about, "transformation": spec} if self.by_transformation else about

    def _scores(self, folder: Path, about: Mapping[str, str]) -> Iterator[StudyCell]:
        """Word-Order Sensitivity under each transformation; then accuracy and confidence on dev-r
        alone (for numbers, the rank correlation).
        """
        for spec, outcomes in self.outcomes(folder, self.transformations):
            if outcomes.task.is_regression:
                continue
            with suppress(NothingToMeasure):
                yield StudyCell.of(self._row(about, spec), "wos", measure("wos", outcomes))
        for outcomes, row in self._on_dev_r(folder, about):
            names = ("spearman",) if outcomes.task.is_regression else ("accuracy", "confidence")
            for name in names:
                with suppress(NothingToMeasure):
                    yield StudyCell.of(row, name, measure(name, outcomes))

    def _on_dev_r(
        self, folder: Path, about: Mapping[str, str]
    ) -> Iterator[tuple[Outcomes, Mapping[str, str]]]:
        """The predictions on dev-r; of original texts once, those that the first shuffle leaves."""
        needs_original = self.by_transformation
        for spec, outcomes in self.outcomes(folder, self.transformations):
            is_kept = outcomes.is_simple if outcomes.task.is_regression else dev_r(outcomes)[-1][1]
            kept = outcomes.take(is_kept)
            if not len(kept):
                continue
            if needs_original and spec in SHUFFLES:
                original = replace(kept, predictions=kept.original[:, None, :])
                yield original, self._row(about, ORIGINAL)
                needs_original = False
            yield kept, self._row(about, spec)


@dataclass(frozen=True)
class DevRCounts(DevRFilter):
    """How many examples of each label each step leaves on the way to dev-r."""

    transformations: Sequence[str] = SHUFFLES[:1]
    q: int | None = 1

    metrics = ()
    does = "count the examples that are simple, predicted correctly, and left in balanced classes"

    @property
    def reach(self) -> Sequence[Reach]:
        """The counts of each label; numbers have none."""
        return [Reach(("dev", *STEPS.values(), "total"), {"label": None})]

    def without(self, specs: Collection[str]) -> DevRCounts:
        """The same: it cannot do without its shuffle."""
        return self

    def cells(self, run: Run, folder: Path, about: Mapping[str, str]) -> Iterator[StudyCell]:
        """Counts, without intervals."""
        finished = FinishedRun.open(folder)
        [(_, outcomes)] = self.outcomes(folder, self.transformations)
        if finished.run.full_task.is_regression:
            n = int(outcomes.is_simple.sum())
            counts = {"dev": len(finished.examples), "step1": n, "total": n}
            for column, count in counts.items():
                yield StudyCell(row=dict(about), column=column, value=count)
            return
        steps = dev_r(outcomes)
        for i, label in enumerate(finished.run.full_task.labels):
            row = {**about, "label": label}
            n = sum(example.label == label for example in finished.examples)
            yield StudyCell(row=row, column="dev", value=n)
            for step, is_kept in steps:
                n = int((is_kept & (outcomes.gold == i)).sum())
                yield StudyCell(row=row, column=STEPS[step], value=n)
        total = int(steps[-1][1].sum())
        yield StudyCell(row={**about, "label": "all"}, column="total", value=total)


LEXICAL = ("sort", "reverse", "shuffle", "copy_sort")
GRADIENT = ("replace_least", "repeat_most", "drop_least", "copy_one")
PBSMT = ("pbsmt",)
SALAD = (*LEXICAL, *GRADIENT, *PBSMT)
MEANS = {"mean of lexical": LEXICAL, "mean of gradient": GRADIENT, "mean of all": SALAD}
VALUES = {"agreement": unchanged, "confidence": top_probability}


@dataclass(frozen=True)
class SaladScores(Measurement):
    """One metric under Word Salad's transformations: a row per transformation, and their means.

    `single` says which transformations have rows of their own, `means` which means there are;
    where `is_named` is false the rows do not say which mean it is. PBSMT learns from the training
    part of the data first. With `chance`, what guessing gives has a row too. `not_for` says which
    transformations the paper leaves out on which data; its means there are over the others.
    """

    metric: str = "agreement"
    single: Sequence[str] = SALAD
    means: Sequence[str] = tuple(MEANS)
    is_named: bool = True
    transformations: Sequence[str] = SALAD
    chance: bool = False
    original: bool = False
    not_for: Mapping[str, Sequence[str]] = field(default_factory=dict)
    q: int | None = 5

    def on(self, data: str) -> SaladScores:
        """The same without what the paper leaves out on this data."""
        return self.without(self.not_for.get(data, ()))

    @property
    def metrics(self) -> Sequence[str]:
        """What is measured."""
        return (self.metric,)

    @property
    def does(self) -> str:
        """What it does, in one line."""
        return f"measure {self.metric} under {', '.join(self.transformations)}"

    @property
    def reach(self) -> Sequence[Reach]:
        """The metric, for each transformation and mean that has a row."""
        if not self.is_named:
            return [Reach((self.metric,))]
        single = self._single
        more = [*(["chance"] if self.chance else []), *([ORIGINAL] if self.original else [])]
        return [Reach((self.metric,), {"transformation": (*single, *self.means, *more)})]

    @property
    def _single(self) -> list[str]:
        return [spec for spec in self.transformations if spec in self.single]

    def cells(self, run: Run, folder: Path, about: Mapping[str, str]) -> Iterator[StudyCell]:
        """Scores per transformation, then the means of those that apply."""
        if self.original and (score := score_of(run, folder, ORIGINAL, self.metric)):
            yield StudyCell.of({**about, "transformation": ORIGINAL}, self.metric, score)
        for spec in self._single:
            score = score_of(run, folder, spec, self.metric)
            if score is not None:
                yield StudyCell.of({**about, "transformation": spec}, self.metric, score)
        outcomes = dict(outcomes_of(folder, self.transformations))
        for name in self.means:
            some = [outcomes[spec] for spec in MEANS[name] if spec in outcomes]
            row = {**about, "transformation": name} if self.is_named else about
            with suppress(NothingToMeasure):  # the notes of the study say why
                yield StudyCell.of(row, self.metric, mean_over_transformations(some, self.metric))
        if self.chance and run.full_task.labels:
            row = {**about, "transformation": "chance"}
            value = round(1 / len(run.full_task.labels), DIGITS)
            yield StudyCell(row=row, column=self.metric, value=value)


def mean_over_transformations(several: Sequence[Outcomes], metric: str) -> Score:
    """The mean over transformations of each one's mean; examples are resampled with all their
    texts, and one imagined example at each end.
    """
    if not several:
        raise NothingToMeasure("no transformation applies")
    names = sorted({name for outcomes in several for name in outcomes.example.tolist()})
    place = {name: i for i, name in enumerate(names)}
    table: Floats = np.full((len(several), len(names)), np.nan)
    for row, outcomes in zip(table, several, strict=True):
        Metric.named(metric).check(outcomes)
        row[[place[name] for name in outcomes.example.tolist()]] = VALUES[metric](outcomes)

    ends = np.tile([0.0, 1.0], (len(several), 1))
    drawn = np.hstack([table, ends])

    def means(drawn: Floats) -> Floats:
        """The mean of each resample, over the examples that are there."""
        there = ~np.isnan(drawn)
        sums = np.where(there, drawn, 0).sum(axis=1)
        return np.asarray(sums / np.maximum(there.sum(axis=1), 1))

    def statistic(picks: Ints) -> Floats:
        return np.asarray(np.mean([means(row[picks]) for row in drawn], axis=0))

    value = float(np.nanmean(table, axis=1).mean())
    low, high = resampled(statistic, len(names) + 2)
    return Score(value, min(low, value), max(high, value), len(names))
