"""How undecided is the model on permutations that it still answers right? UNLI's Figure 2, in nats."""

from __future__ import annotations

import numpy as np

from disorder.errors import NothingToMeasure
from disorder.metrics.acceptance import flipped, right_first
from disorder.metrics.statistics.intervals import mean
from disorder.registry import metric
from disorder.types import Bools, Floats, Outcomes, Score

PART = 256  # examples at a time, so that memory stays flat


@metric(better="high", paper="UNLI", of="permutations")
def entropy_c(outcomes: Outcomes) -> Score:
    """Mean entropy over accepted permutations, of examples first answered right."""
    return _entropy(outcomes, right_first(outcomes))


@metric(better="high", paper="UNLI", of="permutations")
def entropy_f(outcomes: Outcomes) -> Score:
    """Mean entropy over accepted permutations, of examples first answered wrong and flipped."""
    return _entropy(outcomes, flipped(outcomes))


def _entropy(outcomes: Outcomes, group: Bools) -> Score:
    kept = group & (outcomes.n_accepted > 0)
    if len(outcomes.task.labels) < 2:
        raise NothingToMeasure("the data has a single label")
    if not kept.any():
        raise NothingToMeasure("no permutation was accepted")
    most = float(np.log(len(outcomes.task.labels)))
    share = mean(
        np.minimum(accepted_entropy(outcomes)[kept] / most, 1.0), skipped=outcomes.n_skipped
    )
    return Score(share.value * most, share.low * most, share.high * most, share.n, share.skipped)


def accepted_entropy(outcomes: Outcomes) -> Floats:
    """Mean entropy of each example's accepted permutations, NaN where there are none."""
    parts = [slice(start, start + PART) for start in range(0, len(outcomes), PART)]
    accepted = outcomes.label == outcomes.gold[:, None]
    with np.errstate(invalid="ignore"):
        sums = [
            np.where(accepted[part], _nats(outcomes.predictions[part]), 0).sum(axis=1)
            for part in parts
        ]
        return np.asarray(np.concatenate(sums) / accepted.sum(axis=1))


def _nats(answers: Floats) -> Floats:
    p = np.nan_to_num(answers).astype(np.float64)
    return np.asarray(-(p * np.log(np.where(p > 0, p, 1.0))).sum(axis=2))
