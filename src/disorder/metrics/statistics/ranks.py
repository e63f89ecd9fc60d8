"""Rank correlation, over many rows at once.

Our own, because the core does without scipy, whose version also takes one pair of rows at a time.
"""

from __future__ import annotations

import numpy as np

from disorder.types import Floats


def rank_correlation(x: Floats, y: Floats) -> Floats:
    """Spearman's correlation of the rows of x with the rows of y; NaN where one does not vary."""
    a, b = (ranks(side) - (side.shape[1] + 1) / 2 for side in (x, y))
    with np.errstate(invalid="ignore"):
        spread = np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))
        return np.asarray((a * b).sum(axis=1) / spread)


def rank_influence(x: Floats, y: Floats) -> Floats:
    """How far each example moves Spearman's correlation of x and y: its influence, whose mean is 0
    and whose variance over n is that of the correlation; all 0 where one does not vary.
    """
    u, v = ((ranks(side[None])[0] - 0.5) / len(side) - 0.5 for side in (x, y))
    together = float(np.mean(u * v))
    of_u, of_v = float(np.mean(u * u)), float(np.mean(v * v))
    if not of_u or not of_v:
        return np.zeros(len(x))
    moved = u * v + _above(x, v) + _above(y, u) - 3 * together
    moved_u = u * u + 2 * _above(x, u) - 3 * of_u
    moved_v = v * v + 2 * _above(y, v) - 3 * of_v
    spread = np.sqrt(of_u * of_v)
    return np.asarray(moved / spread - together / spread / 2 * (moved_u / of_u + moved_v / of_v))


def _above(x: Floats, values: Floats) -> Floats:
    """For each example, the mean over all of `values` where x is larger; half of it where equal."""
    _, group = np.unique(x, return_inverse=True)
    sums = np.bincount(group, values)
    larger = sums.sum() - np.cumsum(sums)
    return np.asarray((larger + sums / 2)[group] / len(x))


def ranks(x: Floats) -> Floats:
    """Ranks from 1 within each row; ties share their mean rank."""
    order = np.argsort(x, axis=1, kind="stable")
    ordered = np.take_along_axis(x, order, axis=1)
    first = np.ones((len(x), 1), dtype=bool)
    starts = np.concatenate([first, ordered[:, 1:] != ordered[:, :-1]], axis=1)
    groups = np.cumsum(starts.ravel()) - 1
    places = np.tile(np.arange(1, x.shape[1] + 1), len(x))
    means = np.bincount(groups, weights=places) / np.bincount(groups)
    out = np.empty_like(x, dtype=float)
    np.put_along_axis(out, order, means[groups].reshape(x.shape), axis=1)
    return out
