"""How often is the answer the gold label, on whole texts and on broken ones?"""

from __future__ import annotations

from disorder.metrics.statistics.intervals import mean, share
from disorder.registry import metric
from disorder.types import Outcomes, Score


@metric(better="high on whole texts, near chance on broken ones", paper="NDSC", of="texts")
def accuracy(outcomes: Outcomes) -> Score:
    """Share of texts given the gold label (of variants, for a transformation)."""
    if outcomes.answers.shape[1] == 1:
        return share(outcomes.n_accepted[outcomes.n_variants > 0] == 1, skipped=outcomes.n_skipped)
    return mean(outcomes.acceptance, skipped=outcomes.n_skipped)


@metric(better="high", paper="UNLI")
def accuracy_used(outcomes: Outcomes) -> Score:
    """Accuracy on the whole texts of just those examples that the transformation could use."""
    return share(outcomes.is_right, skipped=outcomes.n_skipped)
