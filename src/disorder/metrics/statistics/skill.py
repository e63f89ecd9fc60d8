"""Skill in outcomes: which labels count, what an answer adds, and how much of it is left.

An answer that is none of the labels that count (the model abstained, or named a label that the gold
does not have or that was left out) scores chance: so any answer that has nothing to do with the
gold label has skill 0. Only technical failures are left out; where they are many, a claim has to
hold with all of them right and with all of them wrong. Three ratios: t = perturbed ÷ original,
s = surface control ÷ original, r = perturbed ÷ control; Fieller's interval each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from math import floor, sqrt

import numpy as np

from disorder.metrics.statistics.intervals import moves_of_families, student
from disorder.metrics.statistics.skill_ratio import BeyondChance, SkillRatio, beyond_chance
from disorder.types import Bools, Floats, Ints, Outcomes, Score
from disorder.types.predictions import predicted_label

MOST_CONTROLLED = 0.5  # share of the examples that must have a control for one to be shown
FEWEST_FAMILIES = 5  # of a label that counts
MANY_FAILURES = 0.01  # share of the texts from which both extremes must agree


@dataclass(frozen=True)
class LeftOutLabel:
    """A label with too few families for the ratio, and how often it was right."""

    label: int
    n: int
    right_before: int
    right_after: float


def labels_that_count(gold: Ints, family: Ints | None = None) -> Ints:
    """The gold labels with enough families, in ascending order."""
    units = np.arange(len(gold)) if family is None else family
    labels = np.unique(gold)
    sizes = [len(np.unique(units[gold == label])) for label in labels.tolist()]
    return labels[np.array(sizes, dtype=np.int64) >= FEWEST_FAMILIES]


def hold_too_little(gold: Ints, counted: Ints) -> bool:
    """Whether the labels that count are too few for a balanced ratio: skill is then agreement
    beyond chance over all labels.
    """
    return len(counted) < 2 or float(np.isin(gold, counted).mean()) < 0.5


def left_out_labels(
    gold: Ints, counted: Ints, before: Ints, after: Ints, is_predicted: Bools
) -> list[LeftOutLabel]:
    """The labels that do not count, with how many of their examples are right before and after."""
    is_right = (after == gold[:, None]) & is_predicted
    share = is_right.sum(axis=1) / np.maximum(is_predicted.sum(axis=1), 1)
    found = []
    for label in np.setdiff1d(gold, counted).tolist():
        own = gold == label
        right = int((before[own] == label).sum())
        found.append(LeftOutLabel(label, int(own.sum()), right, float(share[own].sum())))
    return found


def skill_scores(gold: Ints, answers: Ints, counted: Ints) -> Floats:
    """How far each answer is right, for skill: 1, 0, or chance where it is no label that counts.

    `answers` has the shape of `gold`, or a column per variant; −1 stands for an abstention.
    """
    rows = gold.reshape(-1, *[1] * (answers.ndim - 1))
    is_counted = np.isin(answers, counted)
    return np.where(is_counted, answers == rows, 1 / max(1, len(counted)))


def variant_scores(
    scores: Floats, is_answered: Bools, n_failed: Ints, chance: float | Floats
) -> list[Floats]:
    """Means over the variants of each example, failures left out; where they are many also with all
    of them wrong, and right. An example whose variants all failed scores chance; abstentions are
    answers.
    """
    sums = (scores * is_answered).sum(axis=1)
    n_answered = is_answered.sum(axis=1)
    n_texts = np.maximum(n_answered + n_failed, 1)
    found = [np.where(n_answered > 0, sums / np.maximum(n_answered, 1), chance)]
    if n_failed.sum() / n_texts.sum() >= MANY_FAILURES:
        found += [sums / n_texts, (sums + n_failed) / n_texts]
    return found


@dataclass(frozen=True, eq=False)
class ThreeRatios:
    """Perturbed ÷ original; with a control also control ÷ original and perturbed ÷ control."""

    t: SkillRatio
    s: SkillRatio | None = None
    r: SkillRatio | None = None

    @property
    def kept(self) -> SkillRatio:
        """The skill kept in the headline: of what the surface leaves, where that was measured."""
        return self.t if self.r is None else self.r

    def grown(self, times: float) -> ThreeRatios:
        """What they would be with so many times as many families."""
        return self._each(lambda ratio: ratio.grown(times))

    def at(self, z: float) -> ThreeRatios:
        """The same, with intervals for another normal point."""
        return self._each(lambda ratio: replace(ratio, z=z))

    def _each(self, change: Callable[[SkillRatio], SkillRatio]) -> ThreeRatios:
        s, r = (None if each is None else change(each) for each in (self.s, self.r))
        return ThreeRatios(change(self.t), s, r)


def three_ratios(
    gold: Ints,
    original: Floats,
    perturbed: Floats,
    control: Floats | None = None,
    family: Ints | None = None,
) -> ThreeRatios:
    """The ratios of balanced skill over the labels that the gold has, from the scores of each
    example.
    """
    t = SkillRatio.of_labels(gold, original, perturbed, family)
    if control is None:
        return ThreeRatios(t)
    return ThreeRatios(
        t,
        SkillRatio.of_labels(gold, original, control, family),
        SkillRatio.of_labels(gold, control, perturbed, family),
    )


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
        scores = skill_scores(self.gold, self.outcomes.label, self.counted)
        chance = 1 / max(1, len(self.counted))
        found = variant_scores(scores, self.outcomes.is_predicted, self.n_failed, chance)
        chosen = np.isin(self.gold, self.counted)
        return [self._balanced(chosen, after) for after in found]

    def _balanced(self, chosen: Bools, after: Floats) -> ThreeRatios:
        before = skill_scores(self.gold, self.outcomes.original_label, self.counted)
        answers = self.control_label
        t = three_ratios(
            self.gold[chosen], before[chosen], after[chosen], family=self.family[chosen]
        )
        if answers is None:
            return t
        control = skill_scores(self.gold, answers, self.counted)
        both = chosen & self.has_control
        if not np.isin(self.counted, self.gold[both]).all():
            return t
        beside = three_ratios(
            self.gold[both], before[both], after[both], control[both], self.family[both]
        )
        return ThreeRatios(t.t, beside.s, beside.r)

    def _of_all_labels(self) -> ThreeRatios:
        answers, before = self.control_label, self.skill
        after = beyond_chance(
            self.gold, self.outcomes.label, self.outcomes.is_predicted, self.family
        )
        t = SkillRatio.of_answers(before, after)
        if answers is None or not self.has_control.all():
            return ThreeRatios(t)
        control = beyond_chance(self.gold, answers, family=self.family)
        return ThreeRatios(
            t, SkillRatio.of_answers(before, control), SkillRatio.of_answers(control, after)
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


@dataclass(frozen=True, eq=False)
class OwnChanceOutcomes(NaturalOutcomes):
    """The outcomes of examples that have a chance of their own (one of its options, of two texts,
    or what another answer scores), as skill sees them: every example counts the same, and scores 1
    or 0 (an open answer: how far it is right) minus its chance.
    """

    @property
    def chance(self) -> Floats:
        """The accuracy of a guess on each example."""
        assert self.outcomes.chance is not None
        return self.outcomes.chance

    @cached_property
    def skill(self) -> BeyondChance:
        """Accuracy minus chance on original texts."""
        right = self._scores(self.outcomes.original_label, self.outcomes.original)
        lone = np.zeros(len(right), dtype=np.int64)
        moves = moves_of_families(self.family, lone, (right - self.chance)[:, None])
        accuracy = float(right.mean())
        return BeyondChance(
            value=float((right - self.chance).mean()),
            accuracy=accuracy,
            by_chance=float(self.chance.mean()),
            deviations=moves.deviations[:, 0],
            imagined=((1 - accuracy) ** 2 + accuracy**2) / moves.effective**2,
            freedom=max(1, floor(moves.effective - 1)),
            n=len(right),
        )

    def ratios(self) -> list[ThreeRatios]:
        """The three ratios; where many variants failed also with all of them wrong, and right."""
        scores = self._scores(self.outcomes.label, self.outcomes.predictions)
        found = variant_scores(scores, self.outcomes.is_predicted, self.n_failed, self.chance)
        return [self._three(after) for after in found]

    def rare(self) -> list[LeftOutLabel]:
        """No place is too rare to count."""
        return []

    def _three(self, after: Floats) -> ThreeRatios:
        before = self._scores(self.outcomes.original_label, self.outcomes.original)
        t = SkillRatio.of_scores(before, after, self.chance, self.family)
        if self.control_label is None:
            return ThreeRatios(t)
        both = self.has_control
        assert self.outcomes.control is not None
        control = self._scores(self.control_label, self.outcomes.control)[both]
        chance, family = self.chance[both], self.family[both]
        return ThreeRatios(
            t,
            SkillRatio.of_scores(before[both], control, chance, family),
            SkillRatio.of_scores(control, after[both], chance, family),
        )

    def _scores(self, answers: Ints, predictions: Floats) -> Floats:
        """How far each answer is right: 1, 0, what it was graded, or chance where there is none."""
        shape = (-1, *[1] * (answers.ndim - 1))
        right = answers == self.gold.reshape(shape)
        if self.outcomes.task.is_graded:
            right = np.nan_to_num(predictions[..., 0])
        return np.where(answers >= 0, right, self.chance.reshape(shape)).astype(np.float64)


def skill_of(outcomes: Outcomes) -> NaturalOutcomes:
    """Outcomes as skill sees them, with the chance that their task has."""
    return NaturalOutcomes(outcomes) if outcomes.chance is None else OwnChanceOutcomes(outcomes)


def is_by_families(outcomes: Outcomes) -> bool:
    """Whether outcomes are concluded on as those of a natural audit: of labels, over families."""
    is_natural = outcomes.fidelity == "natural" or outcomes.chance is not None
    return is_natural and not outcomes.task.is_regression
