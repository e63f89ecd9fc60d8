"""A metric: for how many examples the model never changes its mind."""

from __future__ import annotations

import numpy as np

from disorder.metrics import Share
from disorder.registry import metric
from disorder.types import Outcomes


@metric(
    title="steady",
    meaning="share of examples whose permutations all get the same label, right or wrong",
    better="low where the task needs order",
    of="permutations",
    shown="permutations",
    position=180,
)
def steadiness(outcomes: Outcomes) -> Share:
    """Share of examples whose permutations all get the same label."""
    is_first = outcomes.label == outcomes.label[:, :1]
    return Share(np.asarray((is_first | ~outcomes.is_predicted).all(axis=1)))
