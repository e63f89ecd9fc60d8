"""The joint regression of kept predictions on local and global disorder, within examples.

Each variant of an example has its local and its global disorder, and a prediction that is kept or
not. Both are taken relative to their mean over the example's variants, so that examples that are
easy to flip play no part, and one least-squares fit has both slopes. Intervals resample examples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from disorder.errors import NothingToMeasure
from disorder.metrics import resampled, widened
from disorder.types import Bools, Floats, Ints, Score

FEWEST = 5  # examples
FLAT = 1e-6  # 1 − squared correlation below which the two cannot be told apart


@dataclass(frozen=True)
class JointSlopes:
    """How much the share of kept predictions falls from no disorder to the worst: by local order
    alone, by global order alone, and by how much more by the former.
    """

    local: Score
    global_: Score
    difference: Score

    @property
    def follows(self) -> str:
        """Which order the model follows: local, global, both, neither or undecided."""
        reads_local = self.local.low > 0
        reads_global = self.global_.low > 0
        if self.difference.low > 0 and reads_local:
            return "local"
        if self.difference.high < 0 and reads_global:
            return "global"
        if reads_local and reads_global:
            return "both"
        is_still = self.local.value == self.global_.value == 0
        return "neither" if is_still else "undecided"


def joint_slopes(local: Floats, global_: Floats, is_kept: Bools) -> JointSlopes:
    """The slopes of one model; all are examples × variants, NaN where there is no variant."""
    is_there = ~np.isnan(local) & ~np.isnan(global_)
    lost = np.where(is_kept, 0.0, 1.0)
    columns = [_centred(each, is_there) for each in (local, global_, lost)]
    moments = _moments(*columns)
    varies = (moments[:, 0] > 0) | (moments[:, 2] > 0)
    moments = moments[varies]
    if len(moments) < FEWEST:
        raise NothingToMeasure(f"fewer than {FEWEST} examples have variants that differ")
    if _are_one(moments.sum(axis=0)):
        raise NothingToMeasure("local and global disorder cannot be told apart on these variants")
    value = _solved(moments.sum(axis=0)[None, :])[0]
    n = len(moments)

    def score(pick: Ints) -> Score:
        def statistic(block: Ints) -> Floats:
            return np.asarray(_solved(moments[block].sum(axis=1)) @ pick)

        low, high = resampled(statistic, n)
        return widened(float(value @ pick), low, high, n)

    return JointSlopes(*(score(np.array(pick)) for pick in ([1, 0], [0, 1], [1, -1])))


def _centred(values: Floats, is_there: Bools) -> Floats:
    """Values relative to the mean of their example; 0 where there is none."""
    counts = np.maximum(is_there.sum(axis=1), 1)
    means = np.where(is_there, values, 0.0).sum(axis=1) / counts
    return np.where(is_there, values - means[:, None], 0.0)


def _moments(x: Floats, z: Floats, y: Floats) -> Floats:
    """What each example adds to the normal equations: xx, xz, zz, xy, zy."""
    pairs = ((x, x), (x, z), (z, z), (x, y), (z, y))
    return np.stack([(first * second).sum(axis=1) for first, second in pairs], axis=1)


def _are_one(sums: Floats) -> bool:
    xx, xz, zz = sums[:3]
    return bool(xx * zz - xz**2 <= FLAT * xx * zz)


def _solved(sums: Floats) -> Floats:
    """The two slopes of each row of normal equations."""
    xx, xz, zz, xy, zy = sums.T
    determinant = np.maximum(xx * zz - xz**2, FLAT * xx * zz + np.finfo(float).tiny)
    return np.stack([(zz * xy - xz * zy) / determinant, (xx * zy - xz * xy) / determinant], axis=1)
