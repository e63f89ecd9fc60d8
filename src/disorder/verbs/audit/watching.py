"""Watchers of an audit: they see samples as they come, and may end prediction early.

`--stop-when` watches the interval of one score under each transformation, `--fail-if` the scores
that a gate's rules are about; both by intervals that hold however often one looks. `--until` (see
`deciding.py`) watches the conclusion, a budget (see `budget.py`) what was spent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from disorder.errors import NothingToMeasure
from disorder.metrics import Anytime, AnytimeRatio, Metric, SkillRatio, StopRule
from disorder.metrics.statistics.anytime import FEWEST_FAMILIES, PlannedLook, planned_looks
from disorder.metrics.statistics.skill import NaturalOutcomes, labels_that_count
from disorder.results.run import EarlyStop
from disorder.types import CONTROL_OF, ORIGINAL, Dataset, Ints, Outcomes
from disorder.verbs.gate import GateRule, ScoreNames

STOP_WHEN = "--stop-when"
FAIL_IF = "--fail-if"
Interval = tuple[float, float]


class Watcher:
    """Sees everything and ends nothing."""

    def is_about(self, spec: str) -> bool:
        """Whether it wants to see the outcomes under a transformation."""
        return False

    def compares_with(self, spec: str) -> bool:
        """Whether it wants the predictions under a surface control beside those of its variants."""
        return False

    def take(
        self, outcomes: Mapping[str, Outcomes], n_done: int, *, has_probabilities: bool
    ) -> None:
        """Take in the outcomes of examples just predicted, by transformation; `n_done` examples
        were predicted by now. `has_probabilities` is whether the model showed any so far.
        """

    def ends(self, spec: str) -> bool:
        """Whether no more has to be predicted under a transformation."""
        return False

    def is_over(self) -> str:
        """The option by which no more examples are needed; empty as long as they are."""
        return ""

    def room(self, costs: Mapping[str, float]) -> tuple[float, str]:
        """How many further questions may be asked, and the option that allows no more."""
        return math.inf, ""

    def check(self, costs: Mapping[str, float]) -> None:
        """Raise where it cannot watch what it should."""

    def stops(self, n_done: int) -> list[EarlyStop]:
        """The scores that were watched until prediction could stop, after so many examples."""
        return []

    def notes(self, *, is_cut: bool) -> list[str]:
        """What the reader should know; `is_cut` says that some examples were not reached."""
        return []


@dataclass
class WatchedMean:
    """A score that is a mean of one value per example, with an interval that holds at any time."""

    metric: Metric
    sequence: Anytime = field(default_factory=Anytime)
    in_units: Callable[[float], float] | None = None  # known from the first value on

    def take(self, outcomes: Outcomes, n_done: int) -> None:
        """Take in more examples."""
        found = self.metric.watched(outcomes)
        if found is not None:
            self.sequence.update(found.values)
            self.in_units = found.in_units

    @property
    def interval(self) -> Interval:
        """The interval of the score so far, in its own units."""
        if self.in_units is None:
            return -math.inf, math.inf
        low, high = sorted(map(self.in_units, self.sequence.interval))
        return low, high


@dataclass
class WatchedRatio:
    """A ratio of skills on labels, with an interval that holds at any time."""

    metric: Metric
    sequence: AnytimeRatio
    waiting: list[Outcomes] = field(default_factory=list)  # for an example of another label

    def take(self, outcomes: Outcomes, n_done: int) -> None:
        """Take in more examples."""
        self.waiting.append(outcomes)
        try:
            found = self.metric.decompose(_joined(self.waiting))
        except NothingToMeasure:
            return
        if isinstance(found, SkillRatio) and found.rows is not None:
            self.sequence.update(*found.rows)
        self.waiting.clear()

    @property
    def interval(self) -> Interval:
        """The interval of the ratio so far."""
        return self.sequence.interval


@dataclass
class Looks:
    """The planned looks at the outcomes of a run so far. The labels that count are settled from all
    examples before the first.
    """

    planned: list[PlannedLook]
    counted: Ints  # none where every example has a chance of its own
    parts: list[Outcomes] = field(default_factory=list)

    @classmethod
    def over(cls, dataset: Dataset, families: Mapping[str, int]) -> Looks:
        """The looks at these examples."""
        examples = dataset.examples
        family = np.array([families[example.id] for example in examples], dtype=np.int64)
        gold = np.array([dataset.task.labels.index(example.label) for example in examples])
        counted = np.empty(0, dtype=np.int64)
        if not dataset.task.has_own_chance:
            counted = labels_that_count(gold, family)
        return cls(planned_looks(len(examples)), counted)

    def take(self, outcomes: Outcomes, n_done: int) -> PlannedLook | None:
        """Take in more examples; gives the look that is due. One with few families, or where a
        label that counts has too few, is passed over.
        """
        self.parts.append(outcomes)
        due = [look for look in self.planned if look.n_examples <= n_done]
        if not due:
            return None
        self.planned = self.planned[len(due) :]
        given = NaturalOutcomes(self.seen)
        counted = labels_that_count(given.gold, given.family)
        has_enough = len(np.unique(given.family)) >= FEWEST_FAMILIES or due[-1].is_last
        is_seen = set(self.counted.tolist()) <= set(counted.tolist())
        return due[-1] if has_enough and is_seen else None

    @property
    def seen(self) -> Outcomes:
        """All outcomes so far."""
        self.parts = [_joined(self.parts)]
        return self.parts[0]


@dataclass
class WatchedLooks:
    """A ratio of skills over families: the interval is that of the last planned look."""

    metric: Metric
    looks: Looks
    interval: Interval = (-math.inf, math.inf)

    def take(self, outcomes: Outcomes, n_done: int) -> None:
        """Take in more examples, and look where a look is due."""
        look = self.looks.take(outcomes, n_done)
        if look is not None:
            given = NaturalOutcomes(self.looks.seen, self.looks.counted)
            bounds = given.ratios()[0].t.interval(look.z)
            self.interval = (-math.inf, math.inf) if bounds is None else bounds


def _joined(parts: Sequence[Outcomes]) -> Outcomes:
    """The outcomes of several portions under one transformation, in their order."""
    always = ("example", "gold", "original", "predictions", "is_simple")
    in_some_runs = ("n_planned", "family", "control", "n_failed", "chance")
    given = {name: [getattr(part, name) for part in parts] for name in (*always, *in_some_runs)}
    joined: dict[str, Any] = {
        name: None if any(each is None for each in arrays) else np.concatenate(arrays)
        for name, arrays in given.items()
    }
    return replace(parts[0], **joined)


@dataclass
class StopWhen(Watcher):
    """`--stop-when`: a transformation ends when the interval of a score is narrow enough."""

    rule: StopRule
    watched: dict[str, WatchedMean] = field(default_factory=dict)
    stopped: dict[str, EarlyStop] = field(default_factory=dict)

    def is_about(self, spec: str) -> bool:
        """Every transformation is watched by itself; controls are those of all examples."""
        return spec != ORIGINAL and not spec.startswith(CONTROL_OF)

    def take(
        self, outcomes: Mapping[str, Outcomes], n_done: int, *, has_probabilities: bool
    ) -> None:
        """Look at the interval; never at that of a score of probabilities as long as the model gave
        labels only.
        """
        metric = Metric.named(self.rule.metric)
        for spec, found in outcomes.items():
            watched = self.watched.setdefault(spec, WatchedMean(metric))
            watched.take(found, n_done)
            low, high = watched.interval
            if high - low < self.rule.width and metric.fits(has_probabilities=has_probabilities):
                self.stopped[spec] = _early_stop(spec, self.rule.metric, (low, high), n_done)

    def ends(self, spec: str) -> bool:
        """Whether the interval was narrow enough."""
        return spec in self.stopped

    def stops(self, n_done: int) -> list[EarlyStop]:
        """One per transformation that ended."""
        return list(self.stopped.values())

    def notes(self, *, is_cut: bool) -> list[str]:
        """Which interval holds."""
        return [_other_intervals(STOP_WHEN, [self.rule.metric])] if self.stopped else []


@dataclass
class WatchedRule:
    """One rule of a gate under way, on one transformation."""

    rule: GateRule
    spec: str
    watched: WatchedMean | WatchedRatio | WatchedLooks
    n_examples: int = 0
    verdict: bool | None = None  # whether the rule is met; None as long as that is open

    def take(self, outcomes: Outcomes, n_done: int, *, has_probabilities: bool) -> None:
        """Take in the examples of a portion, and decide if that is possible now; not on a score of
        probabilities as long as the model gave labels only.
        """
        self.n_examples += len(outcomes)
        self.watched.take(outcomes, n_done)
        fits = self.watched.metric.fits(has_probabilities=has_probabilities)
        if self.verdict is None and fits:
            low, high = map(self.rule.is_met, self.watched.interval)
            self.verdict = low if low == high else None


@dataclass
class LiveGate(Watcher):
    """`--fail-if`: over as soon as one rule is met, or all are not.

    A rule on a score that cannot be watched, or on a group, is decided at the end (`later`).
    """

    rules: Sequence[WatchedRule] = ()
    later: Sequence[str] = field(default_factory=list)

    @classmethod
    def of(
        cls,
        texts: Sequence[str],
        names: ScoreNames,
        dataset: Dataset,
        families: Mapping[str, int] | None,
    ) -> LiveGate:
        """The rules that a user typed, for the scores that will be measured; the `families` of
        examples are None in a run that follows a paper.
        """
        watched = []
        later = []
        for text in texts:
            rule = GateRule.parse(text)
            specs = names.planned(rule)
            score = None
            if rule.group == "all" and len(specs) == 1:
                score = _watchable(rule, dataset, families)
            if score is None:
                later.append(text)
            else:
                watched.append(WatchedRule(rule, specs[0], score))
        return cls(watched, later)

    def is_about(self, spec: str) -> bool:
        """Whether a rule is about a transformation."""
        return any(rule.spec == spec for rule in self.rules)

    def take(
        self, outcomes: Mapping[str, Outcomes], n_done: int, *, has_probabilities: bool
    ) -> None:
        """Take in what a portion gave under each transformation."""
        for rule in self.rules:
            if rule.spec in outcomes:
                rule.take(outcomes[rule.spec], n_done, has_probabilities=has_probabilities)

    @property
    def is_decided(self) -> bool:
        """Whether the gate cannot change any more: a rule is met, or all rules are not."""
        verdicts = [rule.verdict for rule in self.rules]
        if any(verdicts):
            return True
        return bool(verdicts) and not self.later and all(v is not None for v in verdicts)

    def is_over(self) -> str:
        """Once it is decided."""
        return FAIL_IF if self.is_decided else ""

    @property
    def _decided(self) -> list[WatchedRule]:
        return [rule for rule in self.rules if rule.verdict is not None and rule.n_examples]

    def stops(self, n_done: int) -> list[EarlyStop]:
        """The scores of decided rules; of two rules on one score the last tells the interval, which
        is that of both.
        """
        found = {
            (rule.spec, rule.rule.metric): _early_stop(
                rule.spec, rule.rule.metric, rule.watched.interval, n_done
            )
            for rule in self._decided
        }
        return list(found.values())

    def notes(self, *, is_cut: bool) -> list[str]:
        """Which intervals hold, where the gate ended the run."""
        names = dict.fromkeys(f"{rule.spec}:{rule.rule.metric}" for rule in self._decided)
        return [_other_intervals(FAIL_IF, list(names))] if is_cut and self.is_decided else []


def _watchable(
    rule: GateRule, dataset: Dataset, families: Mapping[str, int] | None
) -> WatchedMean | WatchedRatio | WatchedLooks | None:
    """The score of a rule as it can be watched; None where it cannot."""
    metric = Metric.named(rule.metric)
    task = dataset.task
    is_fixed = bool(task.labels) and not task.has_own_chance
    if not is_fixed or len(task.labels) < metric.part.least_labels:
        return None
    if metric.part.watched == "ratio":
        n_labels = len({example.label for example in dataset.examples})
        if families is not None:
            looks = Looks.over(dataset, families)
            return WatchedLooks(metric, looks) if n_labels > 1 else None
        return WatchedRatio(metric, AnytimeRatio(n_labels)) if n_labels > 1 else None
    return WatchedMean(metric) if metric.part.watched == "mean" else None


def not_predicted(option: str) -> str:
    """Why examples are left out that were not reached when an option ended the run."""
    return f"not predicted ({option})"


def _early_stop(spec: str, metric: str, interval: Interval, n_done: int) -> EarlyStop:
    low, high = interval
    return EarlyStop(transformation=spec, metric=metric, low=low, high=high, n_examples=n_done)


def _other_intervals(option: str, scores: Sequence[str]) -> str:
    """Say that only watched scores have intervals that hold whenever one stops."""
    what = f"interval of {scores[0]} holds"
    if len(scores) > 1:
        what = f"intervals of {', '.join(scores)} hold"
    return f"{option}: only the {what} at any time; the others are those of a fixed sample"
