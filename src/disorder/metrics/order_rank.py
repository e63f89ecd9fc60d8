"""Order rank: does a language model find a text likelier than the same words in another order?

P(log p(original) > log p(perturbed)), by log-likelihood for causal models and by
pseudo-log-likelihood (Salazar et al., 2020) for masked ones. It needs no labels.
"""

from __future__ import annotations

import numpy as np

from disorder.metrics.statistics.decomposition import Mean
from disorder.registry import metric
from disorder.types import Outcomes


@metric(
    title="order rank",
    meaning="how often the original text is likelier than its perturbed version; 0.5 if order does "
    "not matter",
    better="near 1",
    on="likelihoods",
    position=60,
)
def order_rank(outcomes: Outcomes) -> Mean:
    """Share of perturbed texts that the model finds less likely than the original; ties count
    half.
    """
    original = outcomes.original[:, :1]
    perturbed = outcomes.predictions[:, :, 0]
    wins = (perturbed < original) + 0.5 * (perturbed == original)
    shares = np.where(outcomes.is_predicted, wins, 0.0).sum(axis=1) / outcomes.n_variants
    return Mean.over_all(shares)
