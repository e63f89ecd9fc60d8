"""Which numbers do the report's pictures need? Small tables in run.json, so that a report can be
drawn again from it alone.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from disorder.types import Floats, Ints, Outcomes

N_BINS = 20
N_RELIABILITY_BINS = 15  # those of ece


def figures(outcomes: Outcomes) -> dict[str, Any]:
    """The Ω curve, the acceptance histogram by first answer, and confidence before and after."""
    tables: dict[str, Any] = {
        "confidence": _confidence(outcomes),
        "reliability": _reliability(outcomes),
    }
    if outcomes.predictions.shape[1] > 1:
        tables |= {"omega": _omega(outcomes), "acceptance": _acceptance(outcomes)}
    return tables


def _omega(outcomes: Outcomes) -> list[list[float]]:
    """Ω_x at x = 0, 0.02, …, 0.98, for this model."""
    points = []
    for i in range(0, 100, 2):
        x = Fraction(i, 100)
        above = outcomes.n_accepted * x.denominator > outcomes.n_variants * x.numerator
        points.append([float(x), round(float(above.mean()), 6)])
    return points


def _acceptance(outcomes: Outcomes) -> dict[str, list[int]]:
    """How many examples have each share of accepted permutations, apart by whether the original text
    was answered right.
    """
    return {
        name: _histogram(outcomes.acceptance[mask])
        for name, mask in (("right", outcomes.is_right), ("wrong", ~outcomes.is_right))
    }


def _confidence(outcomes: Outcomes) -> dict[str, list[float]]:
    """Share of texts at each confidence, before and after."""
    before = outcomes.original.max(axis=1)
    after = outcomes.predictions.max(axis=2)[outcomes.is_predicted]
    return {
        name: [round(count / max(1, len(values)), 6) for count in _histogram(values)]
        for name, values in (("before", before), ("after", after))
    }


def _reliability(outcomes: Outcomes) -> dict[str, list[list[float]]]:
    """How sure, how often right, and how many answers in each bin of certainty, before and after;
    abstentions left out.
    """
    gold = np.broadcast_to(outcomes.gold[:, None], outcomes.label.shape)
    return {
        "before": _bins(outcomes.original.max(axis=1), outcomes.original_label, outcomes.gold),
        "after": _bins(outcomes.predictions.max(axis=2), outcomes.label, gold),
    }


def _bins(sure: Floats, label: Ints, gold: Ints) -> list[list[float]]:
    sure, is_right = sure[label >= 0].astype(np.float64), (label == gold)[label >= 0]
    places = np.clip(
        np.ceil(sure * N_RELIABILITY_BINS).astype(np.int64) - 1, 0, N_RELIABILITY_BINS - 1
    )
    counts, *sums = [
        np.bincount(places, weights, N_RELIABILITY_BINS) for weights in (None, sure, is_right)
    ]
    used = np.flatnonzero(counts).tolist()
    return [
        [*(round(float(each[i] / counts[i]), 6) for each in sums), int(counts[i])] for i in used
    ]


def _histogram(values: Floats) -> list[int]:
    counts: list[int] = np.histogram(values, bins=N_BINS, range=(0, 1))[0].tolist()
    return counts
