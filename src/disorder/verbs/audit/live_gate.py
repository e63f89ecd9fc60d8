"""A gate that is decided while the audit runs: rules such as `skill_kept > 0.8`, by intervals that
hold however often one looks.

Where a rule's score is a mean of one value per example, its confidence sequence is watched; for a
ratio of skills that of the ratio. A rule on another score, or on a group, is decided at the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from disorder.errors import DisorderError, NothingToMeasure
from disorder.metrics import Anytime, AnytimeRatio, Metric, SkillRatio
from disorder.types import Dataset, Fidelity, Outcomes, Task
from disorder.verbs.gate import GateRule, ScoreNames


@dataclass
class WatchedRule:
    """One rule under way, on one transformation."""

    rule: GateRule
    spec: str
    task: Task
    fidelity: Fidelity
    sequence: Anytime | AnytimeRatio
    n_examples: int = 0
    verdict: bool | None = None  # whether the rule is met; None as long as that is open
    waiting: list[Outcomes] = field(default_factory=list)  # for an example of another label

    @property
    def interval(self) -> tuple[float, float]:
        """The score's interval so far."""
        low, high = self.sequence.interval
        if isinstance(self.sequence, AnytimeRatio):
            return low, high
        metric = Metric.named(self.rule.metric)
        bounds = sorted(metric.in_units(self.task, self.fidelity, x) for x in (low, high))
        return bounds[0], bounds[1]

    def watch(self, outcomes: Outcomes, *, has_probabilities: bool) -> None:
        """Take in the examples of a portion, and decide if that is possible now; not on a score of
        probabilities as long as the model gave labels only.
        """
        metric = Metric.named(self.rule.metric)
        self.n_examples += len(outcomes)
        if isinstance(self.sequence, AnytimeRatio):
            self._watch_ratio(self.sequence, outcomes)
        else:
            self.sequence.update(metric.watched(outcomes))
        if self.verdict is None and metric.fits(has_probabilities=has_probabilities):
            low, high = map(self.rule.is_met, self.interval)
            self.verdict = low if low == high else None

    def _watch_ratio(self, sequence: AnytimeRatio, outcomes: Outcomes) -> None:
        self.waiting.append(outcomes)
        try:
            found = Metric.named(self.rule.metric).decompose(_joined(self.waiting))
        except NothingToMeasure:
            return
        if isinstance(found, SkillRatio) and found.rows is not None:
            sequence.update(*found.rows)
        self.waiting.clear()


def _joined(parts: Sequence[Outcomes]) -> Outcomes:
    """The outcomes of several portions under one transformation, in their order."""
    planned = [part.n_planned for part in parts if part.n_planned is not None]
    return replace(
        parts[0],
        example=np.concatenate([part.example for part in parts]),
        gold=np.concatenate([part.gold for part in parts]),
        original=np.concatenate([part.original for part in parts]),
        predictions=np.concatenate([part.predictions for part in parts]),
        is_simple=np.concatenate([part.is_simple for part in parts]),
        n_planned=np.concatenate(planned) if planned else None,
    )


@dataclass
class LiveGate:
    """All rules of a run; over as soon as one is met, or all are not."""

    rules: Sequence[WatchedRule] = ()
    later: Sequence[str] = field(default_factory=list)  # rules that are decided at the end

    @classmethod
    def of(
        cls, texts: Sequence[str], names: ScoreNames, dataset: Dataset, fidelity: Fidelity
    ) -> LiveGate:
        """The rules that a user typed, for the scores that will be measured."""
        watched = []
        later = []
        for text in texts:
            rule = GateRule.parse(text)
            spec = _watched_spec(rule, names)
            sequence = None if spec is None else _sequence(rule, dataset, fidelity)
            if sequence is None or spec is None:
                later.append(text)
            else:
                watched.append(WatchedRule(rule, spec, dataset.task, fidelity, sequence))
        return cls(watched, later)

    def watch(self, found: Mapping[str, Outcomes], *, has_probabilities: bool) -> None:
        """Take in what a portion gave under each transformation."""
        for rule in self.rules:
            if rule.spec in found:
                rule.watch(found[rule.spec], has_probabilities=has_probabilities)

    @property
    def is_decided(self) -> bool:
        """Whether the gate cannot change any more: a rule is met, or all rules are not."""
        verdicts = [rule.verdict for rule in self.rules]
        if any(verdicts):
            return True
        return bool(verdicts) and not self.later and all(v is not None for v in verdicts)


def _watched_spec(rule: GateRule, names: ScoreNames) -> str | None:
    """The transformation that a rule is about; None where it is about a group or many."""
    specs = names.planned(rule)
    return specs[0] if rule.group == "all" and len(specs) == 1 else None


def _sequence(
    rule: GateRule, dataset: Dataset, fidelity: Fidelity
) -> Anytime | AnytimeRatio | None:
    task = dataset.task
    metric = Metric.named(rule.metric)
    if task.is_regression:
        return None
    try:
        if metric.is_skill_ratio(task, fidelity):
            n_labels = len({example.label for example in dataset.examples})
            return AnytimeRatio(n_labels) if n_labels > 1 else None
        metric.check_watched(task, fidelity)
    except DisorderError:
        return None
    return Anytime()
