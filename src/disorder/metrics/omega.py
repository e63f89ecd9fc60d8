"""Ω: for how many examples enough permutations still get the gold label.

UnNatural Language Inference (Sinha et al., 2021). Ω_x counts examples whose accepted share exceeds
x, strictly; shares are compared as fractions, so that 34 of 100 is not "more than 0.34" by
rounding.
"""

from __future__ import annotations

from fractions import Fraction

from disorder.errors import BadSetting
from disorder.metrics.statistics.decomposition import Share
from disorder.registry import metric
from disorder.types import Outcomes, Task

NONE = Fraction(0)
ALL = Fraction(1)  # as a limit: every permutation is accepted
NEVER = Fraction(2)  # as a limit: no example is above it
CURVE = tuple(f"0.{i}" for i in range(1, 10))


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
    return exceeding(outcomes, chance_limit(outcomes.task))


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
    return Share.exceeding(outcomes.n_accepted, outcomes.n_variants, ALL)


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
    return exceeding(outcomes, threshold(x))


def exceeding(outcomes: Outcomes, limit: Fraction) -> Share:
    """Which examples have an accepted share strictly above the limit; none is above 1."""
    return Share.exceeding(outcomes.n_accepted, outcomes.n_variants, below_all(limit))


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
