"""Skill where chance is that of each example: one of its own options, of two texts, or what the
answer to another question scores.

Every example counts the same, whatever the place of its right option, and scores 1 or 0 (an open
answer: how far it is right) minus its own chance; an abstention scores chance.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import floor

import numpy as np

from disorder.metrics.statistics.beyond_chance import BeyondChance
from disorder.metrics.statistics.booking import MANY_FAILURES, LeftOutLabel
from disorder.metrics.statistics.family_variance import moves_of_families
from disorder.metrics.statistics.natural_outcomes import NaturalOutcomes
from disorder.metrics.statistics.skill_ratio import SkillRatio
from disorder.metrics.statistics.three_ratios import ThreeRatios
from disorder.types import Floats, Ints, Outcomes


@dataclass(frozen=True, eq=False)
class OwnChanceOutcomes(NaturalOutcomes):
    """The outcomes of examples that have a chance of their own, as skill sees them."""

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
        is_given = self.outcomes.is_predicted
        scores = self._scores(self.outcomes.label, self.outcomes.predictions)
        sums = np.where(is_given, scores, 0.0).sum(axis=1)
        n_given = is_given.sum(axis=1)
        n_texts = np.maximum(n_given + self.n_failed, 1)
        answered = np.where(n_given > 0, sums / np.maximum(n_given, 1), self.chance)
        found = [answered]
        if self.n_failed.sum() / n_texts.sum() >= MANY_FAILURES:
            found += [sums / n_texts, (sums + self.n_failed) / n_texts]
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
            right = predictions[..., 0]
        return np.where(answers >= 0, right, self.chance.reshape(shape)).astype(np.float64)


def skill_of(outcomes: Outcomes) -> NaturalOutcomes:
    """Outcomes as skill sees them, with the chance that their task has."""
    return NaturalOutcomes(outcomes) if outcomes.chance is None else OwnChanceOutcomes(outcomes)
