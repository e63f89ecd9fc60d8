"""Confidence: how certain the model is of its predictions.

After Word Salad (Gupta et al., 2021) and Out of Order (Pham et al., 2021).
"""

from __future__ import annotations

import numpy as np

from disorder.metrics.statistics.decomposition import Mean
from disorder.registry import metric
from disorder.types import Floats, Outcomes


@metric(
    meaning="mean probability of the predicted label",
    better="low on perturbed texts",
    paper="WS, OOO",
    of="texts",
    position=40,
    needs_probabilities=True,
)
def confidence(outcomes: Outcomes) -> Mean:
    """Mean probability of the predicted label."""
    return Mean.over_all(top_probability(outcomes))


def top_probability(outcomes: Outcomes) -> Floats:
    """Mean probability of the predictions for each example's variants."""
    top = outcomes.predictions.max(axis=2)
    abstains = (outcomes.label < 0).sum() > (~outcomes.is_predicted).sum()
    if abstains:  # to abstain is a prediction too, and has a probability
        top = np.maximum(top, 1 - outcomes.predictions.sum(axis=2))
    return np.asarray(np.nanmean(top, axis=1, dtype=np.float64))
