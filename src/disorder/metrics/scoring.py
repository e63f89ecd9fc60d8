"""Scoring: which metrics apply to some outcomes, and what they say.

A metric is named as in run files: `p_c`, or with its parameter `omega@0.5`. Beside a model stand
the papers' imaginary ones, which share the predictions for original texts: UNLI's Model A takes
every perturbed text for meaningless and rejects it; B guesses uniformly; C is a bag of words and
never changes its prediction.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from disorder.errors import DisorderError, NothingToMeasure, UnknownName, option
from disorder.metrics.statistics.decomposition import (
    BinnedGap,
    Decomposition,
    Mean,
    RankCorrelation,
    Share,
)
from disorder.metrics.statistics.skill_ratio import SkillRatio
from disorder.randomness import generator
from disorder.registry import MetricPart, metric_named, parts
from disorder.types import ORIGINAL, Fidelity, Outcomes, Score, Task

LABELS_ONLY = "every prediction is exactly 0 or 1: labels without probabilities"
CURTAILED = ("omega_max", "omega_rand")  # what --curtail measures by default


@dataclass(frozen=True)
class Metric:
    """A registered metric, with the value of its parameter where it has one."""

    part: MetricPart
    value: str = ""

    @classmethod
    def named(cls, name: str) -> Metric:
        """The metric of this name; an error with the nearest names where there is none."""
        entry = metric_named(name)
        if entry is None:
            raise UnknownName("metric", name, metric_names())
        return cls(entry, name.partition("@")[2])

    @property
    def name(self) -> str:
        """Its name in run files."""
        return f"{self.part.name}@{self.value}" if self.value else self.part.name

    def fits(self, *, has_probabilities: bool) -> bool:
        """Whether it says anything of a model that gives probabilities, or labels alone."""
        return has_probabilities or not self.part.needs_probabilities

    def check(self, outcomes: Outcomes) -> None:
        """Raise `NothingToMeasure` where it is about probabilities and the model gives labels."""
        if self.part.needs_probabilities and not outcomes.has_probabilities:
            raise NothingToMeasure(LABELS_ONLY)

    def decompose(self, outcomes: Outcomes) -> Decomposition:
        """What each example contributes; raises `NothingToMeasure` with the reason."""
        self.check(outcomes)
        extra = [self.value] if self.value else []
        found = self.part.function(outcomes, *extra)
        if not isinstance(found, Share | Mean | RankCorrelation | BinnedGap | SkillRatio):
            raise DisorderError(
                f"metric {self.name} returned {type(found).__name__}; a metric returns a Share, "
                "Mean, RankCorrelation, BinnedGap or SkillRatio"
            )
        if isinstance(found, Mean) and not found.is_within_bounds:
            raise DisorderError(f"metric {self.name}: contributions must lie between 0 and 1")
        return found

    def score(self, outcomes: Outcomes) -> Score:
        """The score with its interval; raises `NothingToMeasure` with the reason."""
        return self.decompose(outcomes).score(skipped=outcomes.n_skipped, family=outcomes.family)

    def watched(self, outcomes: Outcomes) -> Share | Mean | None:
        """One value in 0..1 per example that counts, for `--stop-when`; None where none counts."""
        try:
            found = self.decompose(outcomes)
        except NothingToMeasure:
            return None
        return found if isinstance(found, Share | Mean) else None

    def _check_labels(self, task: Task) -> None:
        n = len(task.labels)
        if n < self.part.least_labels:
            plural = "s" * (n != 1)
            raise DisorderError(f"{self.name} is not defined for data with {n} label{plural}")

    def check_watched(self, task: Task) -> None:
        """Raise where the metric is no mean of one value per example."""
        self._check_labels(task)
        if self.part.watched != "mean":
            raise DisorderError(
                f"{option('stop_when')}: {self.name} is not a mean of one value per example, so "
                "its "
                "interval cannot be watched; use one such as p_c, accuracy or omega_max"
            )

    def limit(self, task: Task, fidelity: Fidelity) -> Fraction:
        """The share of accepted permutations that decides an example; raises where none does."""
        self._check_labels(task)
        if self.part.decided_at is None:
            raise DisorderError(
                f"{option('curtail')}: {self.name} needs every permutation; choose omega_… scores "
                "only, or "
                f"leave {option('curtail')} out"
            )
        return Fraction(self.part.decided_at(task, fidelity, self.value))

    def is_of_copies(self, task: Task) -> bool:
        """Whether it is measured where one text is a copy of the other."""
        if self.part.copies == "by default label":
            return task.default_label is not None
        return self.part.copies == "as others"


def metric_names() -> list[str]:
    """The names of all metrics, those with a parameter with their usual points."""
    names = []
    for name, entry in parts(MetricPart).items():
        names += [f"{name}@{point}" for point in entry.points] if entry.parameter else [name]
    return names


def measure(metric: str, outcomes: Outcomes) -> Score:
    """One score by name; raises `NothingToMeasure` with the reason."""
    return Metric.named(metric).score(outcomes)


def decompose(metric: str, outcomes: Outcomes) -> Decomposition:
    """What each example contributes to a score."""
    return Metric.named(metric).decompose(outcomes)


def scores(
    outcomes: Outcomes,
    *,
    keeps_words: bool = True,
    points: Mapping[str, Iterable[str]] | None = None,
    only: Collection[str] | None = None,
) -> Iterator[tuple[str, Score | str]]:
    """Every metric that applies: its name with its score, or with the reason why there is none.

    `points` are the values at which metrics with a parameter are measured, by metric, instead of
    their own.
    """
    measured = _measured_on(
        int(outcomes.n_variants.max(initial=1)),
        is_original=outcomes.transformation == ORIGINAL,
        keeps_words=keeps_words,
        moves_options=outcomes.place is not None,
    )
    for metric in _applying(outcomes.task, measured, points or {}, only):
        try:
            yield metric.name, metric.score(outcomes)
        except NothingToMeasure as reason:
            yield metric.name, str(reason)


def planned_names(
    task: Task,
    *,
    n_variants: int,
    is_original: bool,
    keeps_words: bool,
    is_copy: bool,
    points: Mapping[str, Iterable[str]],
    only: Collection[str] | None,
    moves_options: bool = False,
) -> list[str]:
    """The names of all scores that will apply where examples have at most so many variants."""
    measured = _measured_on(
        n_variants,
        is_original=is_original,
        keeps_words=keeps_words,
        moves_options=moves_options,
    )
    return [
        metric.name
        for metric in _applying(task, measured, points, only)
        if not is_copy or metric.is_of_copies(task)
    ]


def _applying(
    task: Task,
    measured: Collection[str],
    points: Mapping[str, Iterable[str]],
    only: Collection[str] | None,
) -> Iterator[Metric]:
    on = task.predicts
    fitting = [p for p in parts(MetricPart).values() if p.of in measured and _fits(p, on)]
    for entry in fitting:
        if not entry.parameter and (only is None or entry.name in only):
            yield Metric(entry)
    for entry in fitting:
        if entry.parameter and only is None:
            yield from (Metric(entry, x) for x in points.get(entry.name, entry.points))
        elif entry.parameter and only is not None:
            chosen = [name for name in sorted(only) if name.startswith(f"{entry.name}@")]
            yield from (Metric.named(name) for name in chosen)


def _fits(entry: MetricPart, on: str) -> bool:
    """Whether a metric is for such predictions; likelihoods have metrics of their own."""
    return entry.on == on or (entry.on == "any" and on != "likelihoods")


def _measured_on(
    n_variants: int, *, is_original: bool, keeps_words: bool, moves_options: bool
) -> set[str]:
    """What such outcomes can be measured on."""
    found = {"texts"}
    if n_variants > 1:
        found.add("permutations")
    if not is_original:
        found.add("variants")
        if keeps_words:
            found.add("order")
        if moves_options:
            found.add("options")
    return found


def limits(metrics: Iterable[str], task: Task, fidelity: Fidelity) -> list[Fraction]:
    """The shares of accepted permutations that decide an example for all of these scores."""
    return sorted({Metric.named(metric).limit(task, fidelity) for metric in metrics})


def references(outcomes: Outcomes) -> Iterator[tuple[str, Outcomes]]:
    """The reference models by name with their outcomes.

    One after another, since each is as large as the outcomes themselves.
    """
    if outcomes.task.reject_label is not None:
        yield "A: rejects", _rejects(outcomes)
    yield "B: guesses", _guesses(outcomes)
    yield "C: bag of words", _unchanged(outcomes)


def _rejects(outcomes: Outcomes) -> Outcomes:
    assert outcomes.task.reject_label is not None
    number = outcomes.task.labels.index(outcomes.task.reject_label)
    certain = np.eye(len(outcomes.task.labels), dtype=np.float32)[number]
    return _predicting(outcomes, np.broadcast_to(certain, outcomes.predictions.shape))


def _guesses(outcomes: Outcomes) -> Outcomes:
    m = len(outcomes.task.labels)
    n_examples, n_variants = outcomes.predictions.shape[:2]
    picks = [
        generator(outcomes.seed, "guess", str(i)).integers(m, size=n_variants)
        for i in outcomes.example
    ]
    numbers = np.array(picks, dtype=np.int64).reshape(n_examples, n_variants)
    return _predicting(outcomes, np.eye(m, dtype=np.float32)[numbers])


def _unchanged(outcomes: Outcomes) -> Outcomes:
    original = outcomes.original[:, None, :]
    return _predicting(outcomes, np.broadcast_to(original, outcomes.predictions.shape))


def _predicting(outcomes: Outcomes, predictions: Any) -> Outcomes:
    """The outcomes with other predictions for the variants that exist."""
    kept = np.where(outcomes.is_predicted[:, :, None], predictions, np.float32(np.nan))
    return replace(outcomes, predictions=kept)
