"""What share of permutations gets the gold label, apart for examples first answered right (D_c) and
wrong (D_f)?

UnNatural Language Inference (Sinha et al., 2021). A bag of words has P_c = 1 and no P_f.
"""

from __future__ import annotations

from disorder.errors import NothingToMeasure
from disorder.metrics.statistics.intervals import mean
from disorder.registry import metric
from disorder.types import Bools, Outcomes, Score


def right_first(outcomes: Outcomes) -> Bools:
    """D_c: examples answered right as original texts (the released code keeps only those with an
    accepted permutation).
    """
    if outcomes.fidelity == "released":
        return outcomes.is_right & (outcomes.n_accepted > 0)
    return outcomes.is_right


def flipped(outcomes: Outcomes) -> Bools:
    """D_f: examples answered wrong as original texts but right on some permutation."""
    return ~outcomes.is_right & (outcomes.n_accepted > 0)


@metric(better="near chance", paper="UNLI", of="permutations")
def p_c(outcomes: Outcomes) -> Score:
    """Share of permutations that get the gold label, of examples first answered right."""
    kept = right_first(outcomes)
    if not kept.any():
        raise NothingToMeasure("no example was answered right")
    return mean(outcomes.acceptance[kept], skipped=outcomes.n_skipped)


@metric(better="low", paper="UNLI", of="permutations")
def p_f(outcomes: Outcomes) -> Score:
    """Share of permutations that get the gold label, of examples first answered wrong and flipped
    by some permutation.
    """
    kept = flipped(outcomes)
    if not kept.any():
        raise NothingToMeasure("no wrong answer was flipped by a permutation")
    return mean(outcomes.acceptance[kept], skipped=outcomes.n_skipped)
