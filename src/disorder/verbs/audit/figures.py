"""Figures: the numbers behind the report's pictures, kept in run.json so that it can be redrawn."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from disorder.metrics.ece import N_BINS, bin_of
from disorder.types import Floats, Ints, Outcomes

N_BARS = 20  # of the histograms


def figures(outcomes: Outcomes) -> dict[str, Any]:
    """The Ω curve, the acceptance histogram by first prediction, and confidence before and after
    where there are probabilities.
    """
    tables: dict[str, Any] = {}
    if outcomes.has_probabilities:
        tables["confidence"] = _confidence(outcomes)
        tables["reliability"] = _reliability(outcomes)
    if outcomes.predictions.shape[1] > 1:
        tables |= {"omega": _omega(outcomes), "acceptance": _acceptance(outcomes)}
    return tables


def _omega(outcomes: Outcomes) -> list[list[float]]:
    """Ω_x at x = 0, 0.02, …, 0.98, for this model."""
    points = []
    for i in range(0, 100, 2):
        x = Fraction(i, 100)
        above = outcomes.n_accepted * x.denominator > outcomes.n_variants * x.numerator
        points.append([float(x), _rounded(above.mean())])
    return points


def _acceptance(outcomes: Outcomes) -> dict[str, list[int]]:
    """How many examples have each share of accepted permutations, apart by whether the original
    text is predicted right.
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
    """Mean confidence, share of correct predictions and their number in each bin of confidence,
    before and after; abstentions left out.
    """
    gold = np.broadcast_to(outcomes.gold[:, None], outcomes.label.shape)
    return {
        "before": _bins(outcomes.original.max(axis=1), outcomes.original_label, outcomes.gold),
        "after": _bins(outcomes.predictions.max(axis=2), outcomes.label, gold),
    }


def _bins(confidence: Floats, label: Ints, gold: Ints) -> list[list[float]]:
    predicted = label >= 0
    confidence = confidence[predicted].astype(np.float64)
    is_right = (label == gold)[predicted]
    places = bin_of(confidence)
    counts = np.bincount(places, minlength=N_BINS)
    confidences = np.bincount(places, confidence, N_BINS)
    rights = np.bincount(places, is_right, N_BINS)
    rows = []
    for i in np.flatnonzero(counts).tolist():
        n = int(counts[i])
        rows.append([_rounded(confidences[i] / n), _rounded(rights[i] / n), n])
    return rows


def _rounded(number: float) -> float:
    return round(float(number), 6)


def _histogram(values: Floats) -> list[int]:
    counts: list[int] = np.histogram(values, bins=N_BARS, range=(0, 1))[0].tolist()
    return counts
