"""Accuracy: how often the prediction is the gold label, on original and on perturbed texts."""

from __future__ import annotations

import numpy as np

from disorder.metrics.statistics.decomposition import Mean, Share
from disorder.registry import metric
from disorder.types import Outcomes


@metric(
    meaning="share of texts given the gold label",
    better="high on original texts, near chance on perturbed ones",
    alone="on perturbed texts a model that gives them one frequent label has it at the share of "
    "that label",
    paper="NDSC",
    of="texts",
    position=10,
)
def accuracy(outcomes: Outcomes) -> Share | Mean:
    """Share of texts given the gold label (of variants, for a transformation); of open answers, how
    far they are right, of rankings their nDCG@10 or what `match` names.
    """
    if outcomes.task.is_graded:
        return Mean.over_all(np.nanmean(outcomes.predictions[:, :, 0], axis=1))
    if outcomes.predictions.shape[1] == 1:
        return Share(outcomes.n_accepted == 1)
    return Mean.over_all(outcomes.acceptance)


@metric(
    meaning="accuracy on the original texts of the examples that the transformation could use",
    better="high",
    paper="UNLI",
    shown="file",
)
def accuracy_used(outcomes: Outcomes) -> Share:
    """Accuracy on the original texts of just those examples that the transformation could use."""
    return Share(outcomes.is_right)
