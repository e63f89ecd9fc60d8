"""How sure is the model of its answer? After Word Salad (Gupta et al., 2021) and Out of Order (Pham et al., 2021)."""

from __future__ import annotations

import numpy as np

from disorder.measure._interval import mean
from disorder.registry import metric
from disorder.types import Outcomes, Score


@metric(better="low on broken texts", paper="WS, OOO", of="texts")
def confidence(outcomes: Outcomes) -> Score:
    """Mean probability of the answer given."""
    return mean(np.nanmean(outcomes.answers.max(axis=2), axis=1, dtype=np.float64), skipped=outcomes.n_skipped)
