"""Acceptance: how many permutations still get the gold label, and how certain the model is of it.

P_c and P_f are the accepted shares of examples whose original text is predicted right (D_c) and
wrong (D_f). Ω_x counts examples whose accepted share exceeds x, strictly. Entropy is that of the
predictions that are still right. UnNatural Language Inference (Sinha et al., 2021). A bag of words
has P_c = 1 and no P_f.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from disorder.errors import BadSetting, NothingToMeasure
from disorder.metrics.statistics.decomposition import Mean, Share
from disorder.registry import metric
from disorder.types import Bools, Floats, Outcomes, Task

NOT_FLIPPED = "no wrong prediction was flipped by a permutation"
NONE = Fraction(0)
ALL = Fraction(1)  # as a limit: every permutation is accepted
NEVER = Fraction(2)  # as a limit: no example is above it
CURVE = tuple(f"0.{i}" for i in range(1, 10))
PART = 256  # examples at a time, so that memory stays flat


def right_first(outcomes: Outcomes) -> Bools:
    """D_c: examples predicted right as original texts.

    The released code keeps only those with an accepted permutation.
    """
    if outcomes.fidelity == "released":
        return outcomes.is_right & (outcomes.n_accepted > 0)
    return outcomes.is_right


def flipped(outcomes: Outcomes) -> Bools:
    """D_f: examples predicted wrong as original texts but right on some permutation."""
    return ~outcomes.is_right & (outcomes.n_accepted > 0)


@metric(
    title="P_c",
    meaning="share of permutations that get the gold label, of examples whose original text is "
    "predicted right (D_c)",
    better="near chance",
    paper="UNLI",
    of="permutations",
    shown="permutations",
    position=140,
    alone="a model that gives the most frequent label to every perturbed text keeps as much as "
    "that label is frequent, without any skill",
)
def p_c(outcomes: Outcomes) -> Mean:
    """Share of permutations that get the gold label, of examples first predicted right."""
    return Mean.over(
        outcomes.acceptance, right_first(outcomes), otherwise="no example was predicted right"
    )


@metric(
    title="P_f",
    meaning="the same, of examples first predicted wrong and flipped by some permutation (D_f)",
    better="low",
    paper="UNLI",
    of="permutations",
    shown="permutations",
    position=150,
    depends_on_q=True,
    alone="more permutations flip more examples, and change which ones it is measured on",
)
def p_f(outcomes: Outcomes) -> Mean:
    """Share of permutations that get the gold label, of examples first predicted wrong and flipped
    by some permutation.
    """
    return Mean.over(outcomes.acceptance, flipped(outcomes), otherwise=NOT_FLIPPED)


@metric(
    title="Ω_max",
    meaning="share of examples with at least one permutation that gets the gold label",
    better="near accuracy or below",
    paper="UNLI",
    of="permutations",
    shown="permutations",
    position=110,
    decided_at=lambda task, fidelity, x: NONE,
    depends_on_q=True,
    alone="it grows with q, to 1 for a model that guesses once words are moved, while a bag of "
    "words has it at its accuracy",
)
def omega_max(outcomes: Outcomes) -> Share:
    """Share of examples with at least one permutation that gets the gold label."""
    return exceeding(outcomes, NONE)


@metric(
    title="Ω_rand",
    meaning="share of examples whose permutations get the gold label more often than by chance",
    better="low",
    paper="UNLI",
    of="permutations",
    shown="permutations",
    position=120,
    decided_at=lambda task, fidelity, x: chance_limit(task),
    depends_on_q=True,
    alone="a model that gives one frequent label to every perturbed text has it at the share of "
    "that label, and a bag of words at its accuracy",
)
def omega_rand(outcomes: Outcomes) -> Share:
    """Share of examples whose permutations get the gold label more often than by chance."""
    return exceeding(outcomes, below_all(chance_limit(outcomes.task)))


@metric(
    title="Ω_1.0",
    meaning="share of examples all of whose permutations get the gold label",
    better="low",
    paper="UNLI",
    of="permutations",
    shown="permutations",
    position=130,
    decided_at=lambda task, fidelity, x: ALL,
    depends_on_q=True,
    alone="it falls with q, and a bag of words has it at its accuracy",
)
def omega_all(outcomes: Outcomes) -> Share:
    """Share of examples all of whose permutations get the gold label (the papers' Ω_1.0)."""
    return exceeding(outcomes, ALL)


@metric(
    name="omega",
    title="Ω_x",
    meaning="share of examples with more than a share x of permutations that get the gold label",
    better="low",
    paper="UNLI",
    of="permutations",
    shown="file",
    parameter="x",
    points=CURVE,
    decided_at=lambda task, fidelity, x: below_all(threshold(x)),
    depends_on_q=True,
    alone="a bag of words has it at its accuracy, so that a better bag of words looks worse",
)
def omega_at(outcomes: Outcomes, x: str) -> Share:
    """Share of examples with more than a share x of permutations that get the gold label."""
    return exceeding(outcomes, below_all(threshold(x)))


def exceeding(outcomes: Outcomes, limit: Fraction) -> Share:
    """Which examples have an accepted share above the limit; 1 stands for all variants.

    Compared as fractions, so that 34 of 100 is not "more than 0.34" by rounding.
    """
    accepted, variants = outcomes.n_accepted, outcomes.n_variants
    if limit == ALL:
        return Share(np.asarray(accepted == variants), limit)
    above = accepted * limit.denominator > variants * limit.numerator
    return Share(np.asarray(above), limit)


def below_all(limit: Fraction) -> Fraction:
    """The limit, or one that nothing exceeds where it is 1, which stands for all variants."""
    return limit if limit < ALL else NEVER


def chance_limit(task: Task) -> Fraction:
    """Chance, as an exact fraction: 1/3 for three labels, also in the released code."""
    return Fraction(1, len(task.labels))


def threshold(x: str) -> Fraction:
    """The share that a user wrote."""
    try:
        found = Fraction(x)
    except (ValueError, ZeroDivisionError):
        found = Fraction(-1)
    if not 0 <= found <= 1:
        raise BadSetting("omega", x=x, need="a share between 0 and 1")
    return found


@metric(
    title="entropy, D_c",
    meaning="mean entropy over accepted permutations, of examples first predicted right",
    unit="nats",
    better="high",
    paper="UNLI",
    of="permutations",
    shown="permutations",
    position=160,
    needs_probabilities=True,
    least_labels=2,
)
def entropy_c(outcomes: Outcomes) -> Mean:
    """Mean entropy over accepted permutations, of examples first predicted right."""
    reason = "no permutation of an example that was predicted right got the gold label"
    return _entropy(outcomes, right_first(outcomes), reason)


@metric(
    title="entropy, D_f",
    meaning="the same, of examples first predicted wrong and flipped by some permutation",
    unit="nats",
    better="high",
    paper="UNLI",
    of="permutations",
    shown="permutations",
    position=170,
    needs_probabilities=True,
    least_labels=2,
    depends_on_q=True,
    alone="more permutations flip more examples, and change which ones it is measured on",
)
def entropy_f(outcomes: Outcomes) -> Mean:
    """Mean entropy over accepted permutations, of examples first predicted wrong and flipped."""
    return _entropy(outcomes, flipped(outcomes), NOT_FLIPPED)


def _entropy(outcomes: Outcomes, group: Bools, reason: str) -> Mean:
    if len(outcomes.task.labels) < 2:
        raise NothingToMeasure("the data has a single label")
    counts = group & (outcomes.n_accepted > 0)
    if not counts.any():
        raise NothingToMeasure(reason)
    most = float(np.log(len(outcomes.task.labels)))
    shares = np.minimum(np.nan_to_num(accepted_entropy(outcomes)) / most, 1.0)
    found = Mean.over(shares, counts, otherwise=reason)
    return replace(found, span=1 / most)


def accepted_entropy(outcomes: Outcomes) -> Floats:
    """Mean entropy of each example's accepted permutations, NaN where there are none."""
    accepted = outcomes.label == outcomes.gold[:, None]
    sums = []
    for start in range(0, len(outcomes), PART):
        part = slice(start, start + PART)
        nats = np.where(accepted[part], _nats(outcomes.predictions[part]), 0)
        sums.append(nats.sum(axis=1))
    with np.errstate(invalid="ignore"):
        return np.asarray(np.concatenate(sums) / accepted.sum(axis=1))


def _nats(predictions: Floats) -> Floats:
    p = np.nan_to_num(predictions).astype(np.float64)
    return np.asarray(-(p * np.log(np.where(p > 0, p, 1.0))).sum(axis=2))
