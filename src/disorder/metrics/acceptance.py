"""Acceptance: the share of permutations that gets the gold label.

Apart for examples whose original text is predicted right (D_c) and wrong (D_f). UnNatural Language
Inference (Sinha et al., 2021). A bag of words has P_c = 1 and no P_f.
"""

from __future__ import annotations

from disorder.metrics.statistics.decomposition import Mean
from disorder.registry import metric
from disorder.types import Bools, Outcomes

NOT_FLIPPED = "no wrong prediction was flipped by a permutation"


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
    return Mean.over(
        outcomes.acceptance,
        flipped(outcomes),
        otherwise=NOT_FLIPPED,
    )
