"""For how many examples do enough permutations still get the gold label? Ω of UnNatural Language
Inference (2021).

Ω_x counts examples whose accepted share exceeds x, strictly; shares are compared as fractions, so
that 34 of 100 is not "more than 0.34" by rounding.
"""

from __future__ import annotations

from fractions import Fraction

from disorder.errors import BadSetting
from disorder.metrics.statistics.curtailment import rand_threshold
from disorder.metrics.statistics.intervals import share
from disorder.registry import metric
from disorder.types import Bools, Outcomes, Score


@metric(better="near accuracy or below", paper="UNLI", of="permutations")
def omega_max(outcomes: Outcomes) -> Score:
    """Share of examples with at least one permutation that gets the gold label."""
    return share(outcomes.n_accepted > 0, skipped=outcomes.n_skipped)


@metric(better="low", paper="UNLI", of="permutations")
def omega_rand(outcomes: Outcomes) -> Score:
    """Share of examples whose permutations get the gold label more often than by chance (released:
    more than 0.34).
    """
    return share(
        exceeds(outcomes, rand_threshold(outcomes.task, outcomes.fidelity)),
        skipped=outcomes.n_skipped,
    )


@metric(better="low", paper="UNLI", of="permutations")
def omega_all(outcomes: Outcomes) -> Score:
    """Share of examples all of whose permutations get the gold label (the papers' Ω_1.0)."""
    return share(outcomes.n_accepted == outcomes.n_variants, skipped=outcomes.n_skipped)


def omega_at(outcomes: Outcomes, x: str) -> Score:
    """Ω_x for a threshold written as a decimal, e.g. "0.5"."""
    return share(exceeds(outcomes, threshold(x)), skipped=outcomes.n_skipped)


def threshold(x: str) -> Fraction:
    """The share that a user wrote."""
    try:
        found = Fraction(x)
    except (ValueError, ZeroDivisionError):
        found = Fraction(-1)
    if not 0 <= found <= 1:
        raise BadSetting("omega", x=x, need="a share between 0 and 1")
    return found


def exceeds(outcomes: Outcomes, limit: Fraction) -> Bools:
    """Which examples have an accepted share above the limit."""
    return outcomes.n_accepted * limit.denominator > outcomes.n_variants * limit.numerator
