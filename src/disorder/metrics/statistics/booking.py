"""Booking: what an answer adds to skill, and which labels count.

An answer that is none of the labels that count (the model abstained, or named a label that the gold
does not have or that was left out) scores chance: so any answer that has nothing to do with the
gold label has skill 0. Only technical failures are left out; where they are many, a claim has to
hold with all of them right and with all of them wrong.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from disorder.types import Bools, Floats, Ints

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
    share = _mean(after == gold[:, None], is_predicted)
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


@dataclass(frozen=True, eq=False)
class VariantScores:
    """The score of each example's variants: failures left out, taken for wrong, and for right."""

    answered: Floats
    worst: Floats
    best: Floats
    share_failed: float

    @property
    def has_many_failures(self) -> bool:
        """Whether failures are too many to be left out without a look at both extremes."""
        return self.share_failed >= MANY_FAILURES


def variant_scores(
    gold: Ints, answers: Ints, is_answered: Bools, n_failed: Ints, counted: Ints
) -> VariantScores:
    """Means over the variants of each example; one whose variants all failed scores chance where
    failures are left out. Abstentions are answers.
    """
    scores = skill_scores(gold, answers, counted)
    sums = (scores * is_answered).sum(axis=1)
    n_answered = is_answered.sum(axis=1)
    n_texts = np.maximum(n_answered + n_failed, 1)
    chance = 1 / max(1, len(counted))
    return VariantScores(
        answered=np.where(n_answered > 0, sums / np.maximum(n_answered, 1), chance),
        worst=sums / n_texts,
        best=(sums + n_failed) / n_texts,
        share_failed=float(n_failed.sum() / n_texts.sum()),
    )


def _mean(values: Floats | Bools, holds: Bools) -> Floats:
    return np.asarray((values * holds).sum(axis=1) / np.maximum(holds.sum(axis=1), 1))
