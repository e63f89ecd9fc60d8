"""How often is the answer the gold label, on original texts and on perturbed ones?"""

from __future__ import annotations

from disorder.metrics.statistics.intervals import mean, share
from disorder.registry import metric
from disorder.types import Outcomes, Score


@metric(better="high on original texts, near chance on perturbed ones", paper="NDSC", of="texts")
def accuracy(outcomes: Outcomes) -> Score:
    """Share of texts given the gold label (of variants, for a transformation)."""
    if outcomes.predictions.shape[1] == 1:
        return share(outcomes.n_accepted[outcomes.n_variants > 0] == 1, skipped=outcomes.n_skipped)
    return mean(outcomes.acceptance, skipped=outcomes.n_skipped)


@metric(better="high", paper="UNLI")
def accuracy_used(outcomes: Outcomes) -> Score:
    """Accuracy on the original texts of just those examples that the transformation could use."""
    return share(outcomes.is_right, skipped=outcomes.n_skipped)
