"""Word Salad's scores: one metric under each of its transformations, and the paper's means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from disorder.errors import NothingToMeasure
from disorder.metrics import Metric, resampled
from disorder.metrics.agreement import unchanged
from disorder.metrics.confidence import top_probability
from disorder.papers.study.pipeline import Measurement, Reach
from disorder.papers.study.pipelines.audit_table import score_of
from disorder.papers.study.pipelines.dev_r_scores import outcomes_of
from disorder.papers.study.result import DIGITS, StudyCell
from disorder.results.run import Run
from disorder.types import ORIGINAL, Floats, Ints, Outcomes, Score

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
            score = _mean_where_measured(some, self.metric)
            if score is not None:
                row = {**about, "transformation": name} if self.is_named else about
                yield StudyCell.of(row, self.metric, score)
        if self.chance and run.full_task.labels:
            row = {**about, "transformation": "chance"}
            value = round(1 / len(run.full_task.labels), DIGITS)
            yield StudyCell(row=row, column=self.metric, value=value)


def _mean_where_measured(several: Sequence[Outcomes], metric: str) -> Score | None:
    """The mean, None where there is none; the notes of the study say why."""
    try:
        return mean_over_transformations(several, metric) if several else None
    except NothingToMeasure:
        return None


def mean_over_transformations(several: Sequence[Outcomes], metric: str) -> Score:
    """The mean over transformations of each one's mean.

    Examples are resampled, all their texts together, with one imagined example at each end, as for
    a single transformation: else the interval has no width where all examples agree.
    """
    names = sorted({name for outcomes in several for name in outcomes.example.tolist()})
    place = {name: i for i, name in enumerate(names)}
    table: Floats = np.full((len(several), len(names)), np.nan)
    for row, outcomes in zip(table, several, strict=True):
        Metric.named(metric).check(outcomes)
        row[[place[name] for name in outcomes.example.tolist()]] = VALUES[metric](outcomes)

    ends = np.tile([0.0, 1.0], (len(several), 1))
    drawn = np.hstack([table, ends])

    def statistic(picks: Ints) -> Floats:
        return np.asarray(np.mean([_means(row[picks]) for row in drawn], axis=0))

    value = float(np.nanmean(table, axis=1).mean())
    low, high = resampled(statistic, len(names) + 2)
    return Score(value, min(low, value), max(high, value), len(names))


def _means(drawn: Floats) -> Floats:
    """The mean of each resample, over the examples that are there."""
    there = ~np.isnan(drawn)
    return np.asarray(np.where(there, drawn, 0).sum(axis=1) / np.maximum(there.sum(axis=1), 1))
