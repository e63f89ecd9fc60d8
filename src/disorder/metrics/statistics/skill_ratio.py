"""Skill ratios: how much of a skill above chance is left, skill after ÷ skill before.

The interval is Fieller's (1954): all ratios r for which after − r · before may be 0. Where the
skill before may be none there is no ratio, and none is given. Examples of each gold label are a
sample of their own: labels count the same however rare they are, and one with few examples makes
the interval wide.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import floor, isnan, sqrt
from statistics import NormalDist

import numpy as np

from disorder.errors import NothingToMeasure
from disorder.metrics.statistics.intervals import Z, student
from disorder.metrics.statistics.ranks import rank_correlation, rank_influence
from disorder.types import Bools, Floats, Ints, Score

# imagined examples of a label, right or wrong before × after: as Agresti and Coull do for shares,
# so that the interval has a width where all examples agree; they move no value
CORNERS = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
HALF = 0.5  # the weight of each
FEW_COLUMNS = 10  # columns of predicted numbers whose spread is measured
LARGEST_Z = 40.0
STEPS = 40  # of a bisection
MINUS = "−"


@dataclass(frozen=True, eq=False)
class SkillRatio:
    """The skill after a perturbation and the one before, both 0 at chance, of the same examples.

    `deviations` has a row per example: how far it moves either skill, so that their covariance is
    deviations.T @ deviations + imagined. Two models on the same examples share the rows.
    """

    after: float
    before: float
    deviations: Floats
    imagined: Floats
    freedom: int  # degrees of freedom of Student's t
    chance: float
    unit: str  # what the skills are measured in
    rows: tuple[Ints, Floats, Floats] | None = None  # label, after, before of each example

    @classmethod
    def of_labels(cls, gold: Ints, is_right: Bools, acceptance: Floats) -> SkillRatio:
        """The ratio of balanced accuracies above chance, over the labels that the gold has."""
        labels, place = np.unique(gold, return_inverse=True)
        m = len(labels)
        if m < 2:
            raise NothingToMeasure("all examples have the same gold label")
        both = np.stack([acceptance, is_right], axis=1).astype(np.float64)
        sizes = np.bincount(place).astype(np.float64)
        sums = np.stack([np.bincount(place, column) for column in both.T], axis=1)
        after, before = (sums / sizes[:, None]).mean(axis=0) - 1 / m
        centres = (sums + HALF * CORNERS.sum(axis=0)) / (sizes + HALF * len(CORNERS))[:, None]
        scales = 1 / (m * np.sqrt((sizes + 1) * sizes))
        deviations = (both - centres[place]) * scales[place, None]
        corners = (CORNERS - centres[:, None]) * scales[:, None, None] * sqrt(HALF)
        imagined = np.einsum("lci,lcj->lij", corners, corners)
        ratio = after / before if before > 0 else 0.0
        freedom = min(
            _freedom(_squares(deviations @ contrast, place) + contrast @ imagined @ contrast, sizes)
            for contrast in (np.array([0.0, 1.0]), np.array([1.0, -ratio]))
        )
        chance = 1 / m
        return cls(
            float(after),
            float(before),
            deviations,
            imagined.sum(axis=0),
            freedom,
            chance,
            "balanced accuracy",
            (gold, both[:, 0], both[:, 1]),
        )

    @classmethod
    def of_numbers(cls, gold: Floats, original: Floats, predictions: Floats) -> SkillRatio:
        """The ratio of rank correlations with the gold numbers; a column per variant."""
        n = len(gold)
        if n < 4 or np.ptp(gold) == 0:
            raise NothingToMeasure(
                "a ratio of rank correlations needs four examples and gold numbers that differ"
            )
        before = float(rank_correlation(gold[None], original[None])[0])
        if isnan(before):
            raise NothingToMeasure("the model gives every original text the same number")
        found = [float(rank_correlation(gold[None], x[None])[0]) for x in predictions.T]
        after = float(np.nan_to_num(found).mean())  # the same number for every text ranks nothing
        moved = [rank_influence(gold, column) for column in predictions.T[:FEW_COLUMNS]]
        deviations = np.stack([np.mean(moved, axis=0), rank_influence(gold, original)], axis=1) / n
        imagined = np.eye(2) * len(CORNERS) * HALF / n**2
        return cls(after, before, deviations, imagined, n - 2, 0.0, "rank correlation")

    def __len__(self) -> int:
        return len(self.deviations)

    @property
    def value(self) -> float:
        """The score."""
        if self.before <= 0:
            raise NothingToMeasure(self._no_skill())
        return self.after / self.before + 0.0

    @cached_property
    def covariance(self) -> Floats:
        """Of the skills after and before."""
        return np.asarray(self.deviations.T @ self.deviations + self.imagined)

    def score(self, *, skipped: int = 0) -> Score:
        """The ratio with its interval; raises where the skill before may be none."""
        bounds = self.interval()
        if bounds is None:
            raise NothingToMeasure(self._no_skill())
        return Score(
            self.value,
            min(bounds[0], self.value),
            max(bounds[1], self.value),
            len(self),
            skipped,
        )

    def interval(self, z: float = Z) -> tuple[float, float] | None:
        """Fieller's interval; None where it has no end, since the skill before may be none."""
        variance = self.covariance * student(self.freedom, z) ** 2
        square = self.before**2 - variance[1, 1]
        if self.before <= 0 or square <= 0:
            return None
        middle = self.after * self.before - variance[0, 1]
        root = sqrt(max(0.0, middle**2 - square * (self.after**2 - variance[0, 0])))
        return (middle - root) / square, (middle + root) / square

    def grown(self, times: float) -> SkillRatio:
        """What it would be with so many times as many examples of each label, values as they are.

        The imagined examples do not grow in number, so that their part shrinks faster.
        """
        return replace(
            self,
            deviations=self.deviations / sqrt(times),
            imagined=self.imagined / times**2,
            freedom=floor(self.freedom * times),
        )

    def plain(self, which: int) -> Score:
        """What the skill is measured in, after (0) or before (1), with its interval."""
        value = self.chance + (self.after, self.before)[which]
        half = student(self.freedom) * sqrt(self.covariance[which, which])
        lowest = 0.0 if self.chance else -1.0
        return Score(value, max(lowest, value - half), min(1.0, value + half), len(self))

    def _no_skill(self) -> str:
        claim = "cannot be told from" if self.before > 0 else "is not above"
        return f"{self.unit} {self.told(1)} on original texts {claim} {self.floor_name}"

    @property
    def floor_name(self) -> str:
        """What a model without skill has."""
        return f"that of one constant answer ({self.chance:.2f})" if self.chance else "0"

    def told(self, which: int) -> str:
        """The plain number of `which` with its interval, for a sentence."""
        found = self.plain(which)
        return f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}]".replace("-", MINUS)


def _squares(moved: Floats, place: Ints) -> Floats:
    """The sum of squares by label."""
    return np.asarray(np.bincount(place, moved**2), dtype=np.float64)


def _freedom(variances: Floats, sizes: Floats) -> int:
    """Degrees of freedom of a sum over labels (Welch and Satterthwaite)."""
    freedom = float(variances.sum()) ** 2 / float((variances**2 / (sizes + 1)).sum())
    return max(1, floor(freedom + 1e-9))


@dataclass(frozen=True, eq=False)
class RatioDifference:
    """The ratio of another model minus that of the base, on the same examples.

    The interval is made of both ratios' own and of how they move together (Zou and Donner, 2008),
    as Newcombe's is for shares.
    """

    base: SkillRatio
    other: SkillRatio

    @property
    def value(self) -> float:
        """The difference."""
        return self.other.value - self.base.value

    def interval(self, z: float = Z) -> tuple[float, float] | None:
        """Its interval; None where one of the skills before may be none."""
        mine = self.base.interval(z)
        theirs = self.other.interval(z)
        if mine is None or theirs is None:
            return None
        r = self._together
        low = _combined(self.other.value - theirs[0], mine[1] - self.base.value, r)
        high = _combined(theirs[1] - self.other.value, self.base.value - mine[0], r)
        return self.value - low, self.value + high

    def p(self) -> float:
        """The p-value of no difference: that of the widest interval that leaves 0 out."""
        inside, outside = LARGEST_Z, 0.0
        for _ in range(STEPS):
            z = (inside + outside) / 2
            bounds = self.interval(z)
            if bounds is None or bounds[0] <= 0 <= bounds[1]:
                inside = z
            else:
                outside = z
        return min(1.0, 2 * NormalDist().cdf(-outside))

    @cached_property
    def _together(self) -> float:
        """The correlation of both ratios; imagined examples are not shared, so that models that
        never differ have less than 1.
        """
        contrasts = [np.array([1.0, -side.value]) for side in (self.base, self.other)]
        moved = [
            side.deviations @ contrast
            for side, contrast in zip((self.base, self.other), contrasts, strict=True)
        ]
        variances = [
            float(contrast @ side.covariance @ contrast)
            for side, contrast in zip((self.base, self.other), contrasts, strict=True)
        ]
        return float(moved[0] @ moved[1]) / sqrt(variances[0] * variances[1])


def _combined(first: float, second: float, correlation: float) -> float:
    return sqrt(max(0.0, first**2 - 2 * correlation * first * second + second**2))
