"""Acceptance by a value of each permutation, such as its overlap: in bins, and within examples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from disorder.metrics import ratio, resampled, widened
from disorder.results.result import Row
from disorder.types import Bools, Floats, Ints, Outcomes, Score
from disorder.verbs.explain.result import bounds, said, signed

FEWEST = 5  # examples that a bin must hold to be shown
BinnedAcceptance = tuple[Row, Score]


def accepted(outcomes: Outcomes) -> Bools:
    """Which variants got the gold label (examples × variants)."""
    return np.asarray(outcomes.label == outcomes.gold[:, None])


def edges_of(width: float, most: float) -> Floats:
    """Where bins of this width begin and end, from 0 to `most`; the last may be narrower."""
    return np.append(np.round(np.arange(0, most - 1e-9, width), 12), most)


def by_bin(values: Floats, is_accepted: Bools, edges: Floats) -> list[BinnedAcceptance]:
    """The share of variants that got the gold label, by bin of their value (NaN: no variant), of
    five examples or more; intervals resample examples.
    """
    places = np.searchsorted(edges, values, side="right") - 1
    places[values == edges[-1]] = len(edges) - 2
    places[np.isnan(values)] = -1
    found = []
    for i in range(len(edges) - 1):
        inside = places == i
        if inside.any(axis=1).sum() < FEWEST:
            continue
        n_accepted = (inside & is_accepted).sum(axis=1).astype(float)
        score = ratio(n_accepted, inside.sum(axis=1).astype(float))
        row: Row = {
            "from": round(float(edges[i]), 6),
            "to": round(float(edges[i + 1]), 6),
            "middle": round(float(edges[i] + edges[i + 1]) / 2, 6),
        }
        found.append((row | bounds(score) | {"variants": int(inside.sum())}, score))
    return found


def slope_within(values: Floats, is_accepted: Bools) -> Score | None:
    """How much acceptance rises per unit of the value between variants of the same example; None
    where no two examples have variants that differ in it.
    """
    there = ~np.isnan(values)
    x = np.where(there, values - _means(values, there), 0.0)
    y = np.where(there, is_accepted - _means(is_accepted.astype(float), there), 0.0)
    covariance = (x * y).sum(axis=1)
    variance = (x * x).sum(axis=1)
    varies = variance > 1e-12
    if varies.sum() < 2:
        return None
    covariance = covariance[varies]
    variance = variance[varies]

    def statistic(block: Ints) -> Floats:
        return np.asarray(covariance[block].sum(axis=1) / variance[block].sum(axis=1))

    value = float(covariance.sum() / variance.sum())
    low, high = resampled(statistic, len(covariance))
    return widened(value, low, high, len(covariance))


def said_within(slope: Score | None, what: str) -> str:
    """The slope as the end of a sentence."""
    if slope is None:
        return ""
    return f"; within an example it changes by {signed(slope, 0.1)} per 0.1 of {what}"


def said_ends(points: Sequence[BinnedAcceptance], what: str, decimals: int) -> str:
    """Acceptance in the lowest and the highest bin, as a sentence."""
    first, low = points[0]
    start = f"acceptance is {said(low)} at {what} of {_range(first, decimals)}"
    if len(points) == 1:
        return start
    last, high = points[-1]
    return f"{start} and {said(high)} at {_range(last, decimals)}"


def _range(row: Row, decimals: int) -> str:
    return f"{row['from']:.{decimals}f}–{row['to']:.{decimals}f}"


def _means(values: Floats, there: Bools) -> Floats:
    sums = np.where(there, values, 0.0).sum(axis=1)
    return np.asarray((sums / np.maximum(there.sum(axis=1), 1))[:, None])
