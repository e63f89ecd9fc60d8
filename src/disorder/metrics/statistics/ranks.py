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
