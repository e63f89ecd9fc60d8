"""Entropy of the predictions for permutations that are still right, in nats (UNLI's Figure 2)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from disorder.errors import NothingToMeasure
from disorder.metrics.acceptance import NOT_FLIPPED, flipped, right_first
from disorder.metrics.statistics.decomposition import Mean
from disorder.registry import metric
from disorder.types import Bools, Floats, Outcomes

PART = 256  # examples at a time, so that memory stays flat


@metric(
    title="entropy, D_c",
    meaning="mean entropy over accepted permutations, of examples first predicted right",
    unit="nats",
    better="high",
    paper="UNLI",
    of="permutations",
    shown="permutations",
    position=160,
    needs_probabilities=True,
    least_labels=2,
)
def entropy_c(outcomes: Outcomes) -> Mean:
    """Mean entropy over accepted permutations, of examples first predicted right."""
    reason = "no permutation of an example that was predicted right got the gold label"
    return _entropy(outcomes, right_first(outcomes), reason)


@metric(
    title="entropy, D_f",
    meaning="the same, of examples first predicted wrong and flipped by some permutation",
    unit="nats",
    better="high",
    paper="UNLI",
    of="permutations",
    shown="permutations",
    position=170,
    needs_probabilities=True,
    least_labels=2,
    depends_on_q=True,
    alone="more permutations flip more examples, and change which ones it is measured on",
)
def entropy_f(outcomes: Outcomes) -> Mean:
    """Mean entropy over accepted permutations, of examples first predicted wrong and flipped."""
    return _entropy(outcomes, flipped(outcomes), NOT_FLIPPED)


def _entropy(outcomes: Outcomes, group: Bools, reason: str) -> Mean:
    if len(outcomes.task.labels) < 2:
        raise NothingToMeasure("the data has a single label")
    counts = group & (outcomes.n_accepted > 0)
    if not counts.any():
        raise NothingToMeasure(reason)
    most = float(np.log(len(outcomes.task.labels)))
    shares = np.minimum(np.nan_to_num(accepted_entropy(outcomes)) / most, 1.0)
    found = Mean.over(shares, counts, otherwise=reason)
    return replace(found, span=1 / most)


def accepted_entropy(outcomes: Outcomes) -> Floats:
    """Mean entropy of each example's accepted permutations, NaN where there are none."""
    accepted = outcomes.label == outcomes.gold[:, None]
    sums = []
    for start in range(0, len(outcomes), PART):
        part = slice(start, start + PART)
        nats = np.where(accepted[part], _nats(outcomes.predictions[part]), 0)
        sums.append(nats.sum(axis=1))
    with np.errstate(invalid="ignore"):
        return np.asarray(np.concatenate(sums) / accepted.sum(axis=1))


def _nats(predictions: Floats) -> Floats:
    p = np.nan_to_num(predictions).astype(np.float64)
    return np.asarray(-(p * np.log(np.where(p > 0, p, 1.0))).sum(axis=2))
