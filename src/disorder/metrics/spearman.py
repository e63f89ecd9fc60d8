"""Spearman's rank correlation of predicted and gold numbers (STS-B in Out of Order, 2021)."""

from __future__ import annotations

import numpy as np

from disorder.errors import NothingToMeasure
from disorder.metrics.statistics.decomposition import RankCorrelation
from disorder.registry import metric
from disorder.types import Floats, Outcomes


@metric(
    title="Spearman",
    meaning="rank correlation with the gold numbers",
    unit="correlation",
    better="high on original texts, near 0 on perturbed ones",
    paper="OOO",
    of="texts",
    on="numbers",
    position=50,
)
def spearman(outcomes: Outcomes) -> RankCorrelation:
    """Spearman's rank correlation with gold, averaged over variants."""
    gold = outcomes.gold.astype(np.float64)
    if len(gold) < 3 or np.ptp(gold) == 0:
        raise NothingToMeasure("rank correlation needs three examples and gold numbers that differ")
    return RankCorrelation(gold, numbers(outcomes).astype(np.float64))


def numbers(outcomes: Outcomes) -> Floats:
    """Predictions as examples × variants; an example with fewer variants goes through its own
    again: a missing one has no rank.
    """
    turns = np.arange(outcomes.predictions.shape[1]) % outcomes.n_variants[:, None]
    return np.asarray(np.take_along_axis(outcomes.predictions[:, :, 0], turns, axis=1))
