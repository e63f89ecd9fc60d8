"""The relative gain over a control: its value by hand, and an interval that is honest."""

from __future__ import annotations

import numpy as np
import pytest

from disorder.errors import NothingToMeasure
from disorder.verbs.audit.describing import relative_gain


def test_the_value_is_worked_by_hand() -> None:
    right = np.array([1.0, 1.0, 1.0, 0.0] * 10)
    perturbed = np.array([1.0, 0.5, 0.5, 0.0] * 10)
    control = np.array([0.5, 0.0, 0.5, 0.0] * 10)
    assert relative_gain(right, perturbed, control).value == pytest.approx(1.0 / 2.0)
    perturbed[0] = np.nan  # left out
    assert relative_gain(right, perturbed, control).n == 39


def test_examples_that_agree_leave_an_interval_with_width() -> None:
    ones, zeros = np.ones(12), np.zeros(12)
    score = relative_gain(ones, ones, zeros)
    assert score.value == 1
    assert score.low < 0.95
    assert relative_gain(np.ones(120), np.ones(120), np.zeros(120)).low > score.low


def test_a_control_that_may_cost_nothing_has_no_gain() -> None:
    right = np.ones(12)
    with pytest.raises(NothingToMeasure, match="costs nothing"):
        relative_gain(right, right, right)
    control = right.copy()
    control[0] = 0.5  # one example of twelve: it may as well be none
    with pytest.raises(NothingToMeasure, match="too little for an interval"):
        relative_gain(right, right, control)


@pytest.mark.parametrize("cost", [0.3, 0.8])
def test_the_interval_holds_the_true_gain(cost: float) -> None:
    """Half of what the control costs is gained; with a small cost many have no interval at all."""
    rng = np.random.default_rng(0)
    held = []
    for _ in range(300):
        right = (rng.random(40) < 0.9).astype(np.float64)
        control = right * (rng.random(40) > cost)
        perturbed = np.where(rng.random(40) < 0.5, right, control)
        try:
            score = relative_gain(right, perturbed, control)
        except NothingToMeasure:
            continue
        held.append(score.low <= 0.5 <= score.high)
    assert len(held) > 250
    assert np.mean(held) > 0.92  # 0.95 with a standard error of 0.013
