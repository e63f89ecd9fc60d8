"""How does acceptance go with something that each permutation has, such as its overlap? By bin, and
within examples.
"""

from __future__ import annotations

import numpy as np

from disorder.metrics import ratio, resampled, widened
from disorder.report.exhibits import Row
from disorder.types import Bools, Floats, Ints, Outcomes, Score
from disorder.verbs.explain.result import bounds, signed

FEWEST = 5  # examples that a bin must hold to be shown


def accepted(outcomes: Outcomes) -> Bools:
    """Which variants got the gold label (examples × variants)."""
    return np.asarray(outcomes.label == outcomes.gold[:, None])


def edges_of(width: float, most: float) -> Floats:
    """Where bins of this width begin and end, from 0 to `most`; the last may be narrower."""
    return np.append(np.round(np.arange(0, most - 1e-9, width), 12), most)


def by_bin(values: Floats, is_accepted: Bools, edges: Floats) -> list[tuple[Row, Score]]:
    """The share of variants that got the gold label, by what they have (NaN: not there), for bins
    of five examples or more.

    Intervals resample examples: the variants of one example are no independent evidence.
    """
    places = np.searchsorted(edges, values, side="right") - 1
    places = np.where(values == edges[-1], len(edges) - 2, np.where(np.isnan(values), -1, places))
    found = []
    for i in range(len(edges) - 1):
        inside = places == i
        if (inside.any(axis=1)).sum() >= FEWEST:
            score = ratio(
                (inside & is_accepted).sum(axis=1).astype(float), inside.sum(axis=1).astype(float)
            )
            middle = round(float(edges[i] + edges[i + 1]) / 2, 6)
            row: Row = {
                "from": round(float(edges[i]), 6),
                "to": round(float(edges[i + 1]), 6),
                "middle": middle,
            }
            found.append((row | bounds(score) | {"variants": int(inside.sum())}, score))
    return found


def slope_within(values: Floats, is_accepted: Bools) -> Score | None:
    """How much acceptance rises a unit of the value, between variants of the same example: what
    examples differ in is out.

    None where the variants of an example do not differ in the value.
    """
    there = ~np.isnan(values)
    x = np.where(there, values - _means(values, there), 0.0)
    y = np.where(there, is_accepted - _means(is_accepted.astype(float), there), 0.0)
    tops, bottoms = (x * y).sum(axis=1), (x * x).sum(axis=1)
    moves = bottoms > 1e-12
    if moves.sum() < 2:
        return None
    tops, bottoms = tops[moves], bottoms[moves]

    def statistic(block: Ints) -> Floats:
        return np.asarray(tops[block].sum(axis=1) / bottoms[block].sum(axis=1))

    value = float(tops.sum() / bottoms.sum())
    low, high = resampled(statistic, len(tops))
    return widened(value, low, high, len(tops))


def said_within(slope: Score | None, what: str) -> str:
    """The slope as the end of a sentence."""
    return (
        ""
        if slope is None
        else f"; within an example it changes by {signed(slope, 0.1)} for every 0.1 of {what}"
    )


def _means(values: Floats, there: Bools) -> Floats:
    sums = np.where(there, values, 0.0).sum(axis=1)
    return np.asarray((sums / np.maximum(there.sum(axis=1), 1))[:, None])
