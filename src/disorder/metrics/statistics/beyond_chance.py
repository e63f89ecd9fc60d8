"""Skill at all: accuracy minus what the shares of answers and gold labels give by chance.

P_o − P_e over all labels, however rare, is 0 for every constant and every random answer. It decides
whether there is skill, and stands in for balanced accuracy where too few labels count. Not divided
by 1 − P_e (that would be Cohen's κ, 1960): a ratio of two skills needs no such unit.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, sqrt

import numpy as np

from disorder.metrics.statistics.family_variance import effective_number, family_sizes
from disorder.metrics.statistics.intervals import Z, student
from disorder.types import Bools, Floats, Ints, Score


@dataclass(frozen=True, eq=False)
class BeyondChance:
    """P_o − P_e, and how far each family moves it."""

    value: float
    accuracy: float
    by_chance: float
    deviations: Floats  # one per family, so that the variance is the sum of their squares
    imagined: float
    freedom: int
    n: int

    @property
    def variance(self) -> float:
        """Of the value."""
        return float(self.deviations @ self.deviations) + self.imagined

    def score(self, z: float = Z) -> Score:
        """The value with its interval."""
        half = student(self.freedom, z) * sqrt(self.variance)
        return Score(self.value, max(-1.0, self.value - half), self.value + half, self.n)

    @property
    def is_shown(self) -> bool:
        """Whether there is skill, at one-sided 2.5 %."""
        return self.score().low > 0


def beyond_chance(
    gold: Ints, answers: Ints, is_predicted: Bools | None = None, family: Ints | None = None
) -> BeyondChance:
    """How much more often answers are right than by chance; `answers` has a row per example, one
    column or several (variants), −1 for an abstention.
    """
    answers = answers.reshape(len(gold), -1)
    weights = np.ones(answers.shape, dtype=bool) if is_predicted is None else is_predicted
    shares = weights / np.maximum(weights.sum(axis=1, keepdims=True), 1)
    n = len(gold)
    n_labels = 1 + max(int(gold.max()), int(answers.max()))
    of_gold = np.bincount(gold, minlength=n_labels) / n
    is_label = answers >= 0
    of_answers = np.bincount(answers[is_label], shares[is_label], minlength=n_labels) / n
    hit = ((answers == gold[:, None]) * shares).sum(axis=1)
    accuracy = float(hit.mean())
    by_chance = float(of_gold @ of_answers)
    met = (np.where(is_label, of_gold[answers], 0.0) * shares).sum(axis=1)
    influence = hit - accuracy - of_answers[gold] - met + 2 * by_chance
    place = np.arange(n) if family is None else np.unique(family, return_inverse=True)[1]
    moved = np.bincount(place, influence) / n
    n_families = len(moved)
    effective = effective_number(family_sizes(place))
    return BeyondChance(
        value=accuracy - by_chance,
        accuracy=accuracy,
        by_chance=by_chance,
        deviations=moved * sqrt(n_families / max(1, n_families - 1)),
        # an imagined family that is right, and one that is wrong: as Agresti and Coull do
        imagined=((1 - accuracy) ** 2 + accuracy**2) / effective**2,
        freedom=max(1, floor(effective - 1)),
        n=n,
    )
