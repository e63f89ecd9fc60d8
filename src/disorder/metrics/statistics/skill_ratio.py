"""Skill above chance, and ratios of it: how much is left, skill after ÷ skill before.

Skill at all is accuracy minus what the shares of answers and gold labels give by chance: P_o − P_e
over all labels, however rare, is 0 for every constant and every random answer. It decides whether
there is skill, and stands in for balanced accuracy where too few labels count. Not divided by
1 − P_e (that would be Cohen's κ, 1960): a ratio of two skills needs no such unit.

The interval is Fieller's (1954): all ratios r for which after − r · before may be 0. Where the
skill before may be none there is no ratio, and none is given. Examples of each gold label are a
sample of their own: labels count the same however rare they are, and one with few examples makes
the interval wide. Where examples belong to families, those are the sample.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import floor, isnan, sqrt

import numpy as np

from disorder.errors import NothingToMeasure
from disorder.metrics.statistics.intervals import (
    Z,
    effective_number,
    family_sizes,
    moves_of_families,
    student,
)
from disorder.metrics.statistics.ranks import rank_correlation, rank_influence
from disorder.types import Bools, Floats, Ints, Score

# imagined examples of a label, right or wrong before × after: as Agresti and Coull do for shares,
# so that the interval has a width where all examples agree; they move no value
CORNERS = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
HALF = 0.5  # the weight of each
FEW_COLUMNS = 10  # columns of predicted numbers whose spread is measured
MINUS = "−"


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


@dataclass(frozen=True, eq=False)
class SkillRatio:
    """The skill after a perturbation and the one before, both 0 at chance, of the same examples.

    `deviations` has a row per family, or per example where each is its own: how far it moves either
    skill, so that their covariance is deviations.T @ deviations + imagined. Two models on the same
    examples share the rows. `n_families` is their effective number, where examples share them.
    """

    after: float
    before: float
    deviations: Floats
    imagined: Floats
    freedom: int  # degrees of freedom of Student's t
    chance: float
    unit: str  # what the skills are measured in
    rows: tuple[Ints, Floats, Floats] | None = None  # label, after, before of each example
    n_examples: int | None = None  # where deviations are those of families
    n_families: float | None = None
    z: float = Z  # the normal point of its interval: another where a run was looked at early

    @classmethod
    def of_labels(
        cls,
        gold: Ints,
        is_right: Bools | Floats,
        acceptance: Floats,
        family: Ints | None = None,
    ) -> SkillRatio:
        """The ratio of balanced accuracies above chance, over the labels that the gold has.

        `is_right` and `acceptance` say how far each example is right before and after, from 0 to 1.
        """
        labels, place = np.unique(gold, return_inverse=True)
        m = len(labels)
        if m < 2:
            raise NothingToMeasure("all examples have the same gold label")
        both = np.stack([acceptance, is_right], axis=1).astype(np.float64)
        if family is not None and len(np.unique(family)) < len(family):
            return cls._over_families(gold, place, both, family)
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
            _freedom(
                np.bincount(place, (deviations @ contrast) ** 2) + contrast @ imagined @ contrast,
                sizes,
            )
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
    def _over_families(cls, gold: Ints, place: Ints, both: Floats, family: Ints) -> SkillRatio:
        moves = moves_of_families(family, place, both)
        sizes = moves.effective_by_label
        m = len(sizes)
        means = _label_means(place, both)
        after, before = means.mean(axis=0) - 1 / m
        imagined = _imagined(means, sizes)
        ratio = after / before if before > 0 else 0.0
        by_label = (
            _freedom(
                np.bincount(moves.cell_label, (moves.cells @ contrast) ** 2)
                + contrast @ imagined @ contrast,
                sizes,
            )
            for contrast in (np.array([0.0, 1.0]), np.array([1.0, -ratio]))
        )
        return cls(
            float(after),
            float(before),
            moves.deviations,
            imagined.sum(axis=0),
            max(1, min(floor(moves.effective - 1), *by_label)),
            1 / m,
            "balanced accuracy",
            (gold, both[:, 0], both[:, 1]),
            n_examples=len(gold),
            n_families=moves.effective,
        )

    @classmethod
    def of_scores(
        cls, before: Floats, after: Floats, chance: Floats, family: Ints | None = None
    ) -> SkillRatio:
        """The ratio of mean scores above chance, where each example has a chance of its own."""
        n = len(before)
        units = np.arange(n) if family is None else family
        both = np.stack([after, before], axis=1)
        lone = np.zeros(n, dtype=np.int64)
        moves = moves_of_families(units, lone, both - chance[:, None])
        means = (both - chance[:, None]).mean(axis=0)
        return cls(
            float(means[0]),
            float(means[1]),
            moves.deviations,
            _imagined(both.mean(axis=0)[None], moves.effective_by_label).sum(axis=0),
            max(1, floor(moves.effective - 1)),
            float(chance.mean()),
            "accuracy",
            n_examples=n,
            n_families=moves.effective,
        )

    @classmethod
    def of_answers(cls, before: BeyondChance, after: BeyondChance) -> SkillRatio:
        """The ratio of accuracies beyond chance over all labels, for data where too few labels have
        enough families for a balanced one.
        """
        return cls(
            after.value,
            before.value,
            np.stack([after.deviations, before.deviations], axis=1),
            np.diag([after.imagined, before.imagined]),
            min(after.freedom, before.freedom),
            0.0,
            "accuracy beyond chance",
            n_examples=before.n,
            n_families=before.freedom + 1.0,
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
        return len(self.deviations) if self.n_examples is None else self.n_examples

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

    def score(self, *, skipped: int = 0, family: Ints | None = None) -> Score:
        """The ratio with its interval, which rests on families already; raises where the skill
        before may be none.
        """
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

    def interval(self, z: float | None = None) -> tuple[float, float] | None:
        """Fieller's interval; None where it has no end, since the skill before may be none."""
        variance = self.covariance * student(self.freedom, self.z if z is None else z) ** 2
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
            n_families=None if self.n_families is None else self.n_families * times,
        )

    def plain(self, which: int) -> Score:
        """What the skill is measured in, after (0) or before (1), with its interval."""
        lowest = 0.0 if self.chance else -1.0
        raw = self.chance + (self.after, self.before)[which]
        value = min(1.0, max(lowest, raw))  # not outside by rounding
        half = student(self.freedom) * sqrt(self.covariance[which, which])
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


def _label_means(place: Ints, columns: Floats) -> Floats:
    sums = np.stack([np.bincount(place, column) for column in columns.T], axis=1)
    return np.asarray(sums / np.bincount(place)[:, None])


def _imagined(means: Floats, sizes: Floats) -> Floats:
    """The variance that imagined examples of each label add, counted in families of that number."""
    weight = HALF * len(CORNERS)
    centres = (means * sizes[:, None] + weight / 2) / (sizes + weight)[:, None]
    scales = 1 / (len(sizes) * np.sqrt((sizes + 1) * sizes))
    corners = (CORNERS - centres[:, None]) * scales[:, None, None] * sqrt(HALF)
    return np.asarray(np.einsum("lci,lcj->lij", corners, corners))


def _freedom(variances: Floats, sizes: Floats) -> int:
    """Degrees of freedom of a sum over labels (Welch and Satterthwaite)."""
    freedom = float(variances.sum()) ** 2 / float((variances**2 / (sizes + 1)).sum())
    return max(1, floor(freedom + 1e-9))
