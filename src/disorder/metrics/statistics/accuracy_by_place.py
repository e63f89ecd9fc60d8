"""Accuracy by the place of the right option: is a model right more often where it stands first?

The highest accuracy minus the lowest is never 0, even where places have no effect; so it stands
beside what it would then be. The places of the right option are drawn at random, so that without
an effect any of them could belong to any other variant of its question: they are dealt again and
again within each question, since an option that keeps its place ("none of the above") keeps the
right one from it. A right option that keeps its place says nothing.
"""

from __future__ import annotations

from typing import TypedDict

import numpy as np

from disorder.randomness import generator
from disorder.types import Floats, Ints, Outcomes

N_DRAWS = 999
LEAST = 10  # variants with the right option in a place, for a share of them


class ByPlace(TypedDict):
    """Accuracy for each place and how many variants it is of; the highest minus the lowest, its
    mean where places have no effect, and the share of such draws in which it is as large.
    """

    accuracy: list[float]
    n: list[int]
    gap: float
    gap_without_effect: float
    p: float


def accuracy_by_place(outcomes: Outcomes) -> ByPlace | None:
    """The accuracy for each place of the right option; None where fewer than two have enough."""
    assert outcomes.right_place is not None
    has_moved = (outcomes.right_place != outcomes.right_place[:, :1]).any(axis=1)
    complete = outcomes.is_predicted.all(axis=1) & has_moved
    place = outcomes.right_place[complete]
    right = (outcomes.label == outcomes.gold[:, None])[complete].astype(np.float64)
    counts = np.bincount(place.ravel(), minlength=1) if place.size else np.zeros(1, dtype=np.int64)
    n_places = len(counts)
    enough = counts >= LEAST
    if enough.sum() < 2:
        return None
    rng = generator(outcomes.seed, "places", outcomes.transformation)
    found = _accuracies(right, place, n_places)
    gap = _gap(found[enough])
    drawn = [
        _gap(_accuracies(right, rng.permuted(place, axis=1), n_places)[enough])
        for _ in range(N_DRAWS)
    ]
    as_large = sum(each >= gap - 1e-12 for each in drawn)
    return {
        "accuracy": [round(each, 6) for each in found.tolist()],
        "n": counts.tolist(),
        "gap": round(gap, 6),
        "gap_without_effect": round(float(np.mean(drawn)), 6),
        "p": (1 + as_large) / (1 + N_DRAWS),
    }


def _accuracies(right: Floats, place: Ints, n_places: int) -> Floats:
    sums = np.bincount(place.ravel(), weights=right.ravel(), minlength=n_places)
    counts = np.bincount(place.ravel(), minlength=n_places)
    return np.asarray(sums / np.maximum(counts, 1))


def _gap(accuracies: Floats) -> float:
    return float(accuracies.max() - accuracies.min())
