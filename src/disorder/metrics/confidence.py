"""How sure is the model of its answer? After Word Salad (Gupta et al., 2021) and Out of Order (Pham
et al., 2021).
"""

from __future__ import annotations

import numpy as np

from disorder.metrics.statistics.intervals import mean
from disorder.registry import metric
from disorder.types import Floats, Outcomes, Score


@metric(better="low on perturbed texts", paper="WS, OOO", of="texts")
def confidence(outcomes: Outcomes) -> Score:
    """Mean probability of the answer given."""
    return mean(top_probability(outcomes), skipped=outcomes.n_skipped)


def top_probability(outcomes: Outcomes) -> Floats:
    """Mean probability of the answers to each example's variants."""
    top = outcomes.predictions.max(axis=2)
    if (outcomes.label < 0).sum() > (
        ~outcomes.is_predicted
    ).sum():  # a abstention is an answer too, and has a probability
        top = np.maximum(top, 1 - outcomes.predictions.sum(axis=2))
    return np.asarray(np.nanmean(top, axis=1, dtype=np.float64))
