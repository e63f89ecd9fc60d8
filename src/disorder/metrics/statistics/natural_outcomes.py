"""Outcomes as skill sees them: labels that count, answers booked, families, the surface control."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import floor, sqrt

import numpy as np

from disorder.metrics.statistics.beyond_chance import BeyondChance, beyond_chance
from disorder.metrics.statistics.booking import (
    LeftOutLabel,
    hold_too_little,
    labels_that_count,
    left_out_labels,
    skill_scores,
    variant_scores,
)
from disorder.metrics.statistics.family_variance import moves_of_families
from disorder.metrics.statistics.intervals import student
from disorder.metrics.statistics.skill_ratio import SkillRatio
from disorder.metrics.statistics.three_ratios import ThreeRatios, three_ratios
from disorder.types import Bools, Floats, Ints, Outcomes, Score
from disorder.types.predictions import predicted_label

MOST_CONTROLLED = 0.5  # share of the examples that must have a control for one to be shown


@dataclass(frozen=True, eq=False)
class NaturalOutcomes:
    """The outcomes of a natural audit, as skill sees them; `fixed` are the labels that count where
    that was settled before all examples were predicted.
    """

    outcomes: Outcomes
    fixed: Ints | None = None

    @cached_property
    def gold(self) -> Ints:
        """Gold label numbers."""
        return self.outcomes.gold.astype(np.int64)

    @cached_property
    def family(self) -> Ints:
        """The family of each example."""
        own = self.outcomes.family
        return np.arange(len(self.outcomes)) if own is None else own

    @cached_property
    def counted(self) -> Ints:
        """The labels that count."""
        return labels_that_count(self.gold, self.family) if self.fixed is None else self.fixed

    @cached_property
    def n_failed(self) -> Ints:
        """How many variants of each example failed."""
        found = self.outcomes.n_failed
        return np.zeros(len(self.outcomes), dtype=np.int64) if found is None else found

    @cached_property
    def control_label(self) -> Ints | None:
        """What was predicted for the controls; None where too few examples have one."""
        has_one = self.has_control
        if has_one.mean() < MOST_CONTROLLED:
            return None
        found = np.full(len(self.outcomes), -1, dtype=np.int64)
        assert self.outcomes.control is not None
        found[has_one] = predicted_label(self.outcomes.control[has_one])
        return found

    @cached_property
    def has_control(self) -> Bools:
        """Which examples have a control."""
        if self.outcomes.control is None:
            return np.zeros(len(self.outcomes), dtype=bool)
        return ~np.isnan(self.outcomes.control[:, 0])

    @cached_property
    def skill(self) -> BeyondChance:
        """Accuracy beyond chance on original texts, over all labels."""
        return beyond_chance(self.gold, self.outcomes.original_label, family=self.family)

    def ratios(self) -> list[ThreeRatios]:
        """The three ratios; where many variants failed also with all of them wrong, and right."""
        if hold_too_little(self.gold, self.counted):
            return [self._of_all_labels()]
        chosen = np.isin(self.gold, self.counted)
        found = variant_scores(
            self.gold,
            self.outcomes.label,
            self.outcomes.is_predicted,
            self.n_failed,
            self.counted,
        )
        extremes = [found.worst, found.best] if found.has_many_failures else []
        return [self._balanced(chosen, after) for after in (found.answered, *extremes)]

    def _balanced(self, chosen: Bools, after: Floats) -> ThreeRatios:
        before = skill_scores(self.gold, self.outcomes.original_label, self.counted)
        t = three_ratios(
            self.gold[chosen], before[chosen], after[chosen], family=self.family[chosen]
        )
        if self.control_label is None:
            return t
        control = skill_scores(self.gold, self.control_label, self.counted)
        both = chosen & self.has_control
        if not np.isin(self.counted, self.gold[both]).all():
            return t
        beside = three_ratios(
            self.gold[both], before[both], after[both], control[both], self.family[both]
        )
        return ThreeRatios(t.t, beside.s, beside.r)

    def _of_all_labels(self) -> ThreeRatios:
        after = beyond_chance(
            self.gold, self.outcomes.label, self.outcomes.is_predicted, self.family
        )
        t = SkillRatio.of_answers(self.skill, after)
        if self.control_label is None or not self.has_control.all():
            return ThreeRatios(t)
        control = beyond_chance(self.gold, self.control_label, family=self.family)
        return ThreeRatios(
            t, SkillRatio.of_answers(self.skill, control), SkillRatio.of_answers(control, after)
        )

    @cached_property
    def answered(self) -> tuple[Floats, Floats]:
        """How far each original text, and the variants of each, got an answer that is a label."""
        is_given = self.outcomes.is_predicted
        labelled = ((self.outcomes.label >= 0) & is_given).sum(axis=1)
        after = labelled / np.maximum(is_given.sum(axis=1), 1)
        return (self.outcomes.original_label >= 0).astype(np.float64), after

    def answered_less(self) -> Score:
        """How much smaller the share of answered texts is among perturbed ones."""
        before, after = self.answered
        less = before - after
        moves = moves_of_families(self.family, np.zeros(len(less), dtype=np.int64), less[:, None])
        error = sqrt(float((moves.deviations**2).sum()))
        half = student(max(1, floor(moves.effective - 1))) * error
        value = float(less.mean())
        return Score(value, value - half, value + half, len(less))

    def rare(self) -> list[LeftOutLabel]:
        """The labels that leave the ratio."""
        if hold_too_little(self.gold, self.counted):
            return []
        return left_out_labels(
            self.gold,
            self.counted,
            self.outcomes.original_label,
            self.outcomes.label.astype(np.int64),
            self.outcomes.is_predicted,
        )


def is_by_families(outcomes: Outcomes) -> bool:
    """Whether outcomes are concluded on as those of a natural audit: of labels, over families."""
    is_natural = outcomes.fidelity == "natural" or outcomes.chance is not None
    return is_natural and not outcomes.task.is_regression
