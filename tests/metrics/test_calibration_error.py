"""Is the calibration error the one worked out by hand, and does its interval leave room for a
calibrated model?
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from conftest import outcomes
from disorder.errors import NothingToMeasure
from disorder.metrics import measure
from disorder.metrics.ece import N_BINS, bin_of, calibration_error
from disorder.types import Outcomes, Task
from disorder.types.predictions import predicted_label
from disorder.verbs.audit.describing import figures

ece = partial(measure, "ece")


def made(answers: np.ndarray, gold: list[int]) -> Outcomes:
    n = len(gold)
    task = Task("toy", tuple("abc"[: answers.shape[-1]]))
    names, simple = np.array([str(i) for i in range(n)]), np.ones(n, dtype=bool)
    return Outcomes("sort", task, names, np.array(gold), answers[:, 0], answers, simple)


def test_by_hand() -> None:
    """Two answers at 0.8 of which one is right, one at 0.55 that is wrong: (|1 − 1.6| + |0 − 0.55|)
    / 3.
    """
    answers = np.array([[0.8, 0.2], [0.2, 0.8], [0.55, 0.45]])[:, None]
    score = ece(made(answers, [0, 0, 1]))
    assert score.value == pytest.approx((0.6 + 0.55) / 3)
    assert score.low <= score.value <= score.high
    assert score.n == 3


@given(st.lists(st.tuples(st.floats(0.34, 1), st.booleans()), min_size=1, max_size=60))
def test_against_going_through_the_bins(rows: list[tuple[float, bool]]) -> None:
    sure, right = np.array([p for p, _ in rows]), np.array([r for _, r in rows])
    assume(sure.min() < 1)  # else there is nothing to measure
    total = 0.0
    for b in range(N_BINS):
        members = [i for i in range(len(rows)) if bin_of(sure[i : i + 1])[0] == b]
        if members:
            total += len(members) / len(rows) * abs(right[members].mean() - sure[members].mean())
    assert calibration_error(sure, right) == pytest.approx(total)
    rest = (1 - sure)[:, None] / 2
    answers = np.concatenate([sure[:, None], rest, rest], axis=1)[:, None]
    gold = [0 if r else 1 for r in right]
    assert ece(made(answers, gold)).value == pytest.approx(total)


def test_a_bin_holds_its_upper_bound() -> None:
    assert bin_of(np.array([0.0, 1 / 15, 0.07, 0.5, 1.0])).tolist() == [0, 0, 1, 7, 14]


@pytest.mark.parametrize("too_sure", [0.0, 0.02, 0.1, 0.3])
def test_the_interval_holds_the_true_error(too_sure: float) -> None:
    """Distances add up chance, so a plain bootstrap would hardly ever reach down to the 0 of a
    calibrated model.
    """
    rng, n, held = np.random.default_rng(0), 60, 0
    for _ in range(n):
        sure = rng.uniform(0.6, 1, size=300)
        right = rng.uniform(size=300) < sure - too_sure
        score = ece(made(np.stack([sure, 1 - sure], axis=1)[:, None], (1 - right).tolist()))
        held += score.low <= too_sure <= score.high
    assert held / n >= 0.95


def test_variants_of_an_example_are_a_cluster_and_missing_ones_do_not_count() -> None:
    alone = ece(outcomes([0, 1], [0, 1], [[0], [1]], sure=0.7))
    more = ece(outcomes([0, 1], [0, 1], [[0, 0, -1], [1, 1, 1]], sure=0.7))
    assert alone.value == pytest.approx(0.3)
    assert more.value == pytest.approx(0.3)
    assert more.n == 2


def test_texts_on_which_the_model_abstains_are_left_out() -> None:
    abstained = np.array([[0.1, 0.1], [0.9, 0.1]])[:, None]
    assert predicted_label(abstained[:, 0]).tolist() == [-1, 0]
    assert ece(made(abstained, [0, 0])).value == pytest.approx(0.1)
    with pytest.raises(NothingToMeasure, match="abstains on every text"):
        ece(made(abstained[:1], [0]))


def test_the_diagram_has_the_same_bins() -> None:
    found = outcomes([0, 0, 1], [0, 1, 1], [[0], [1], [0]], sure=0.7)
    table = figures(found)["reliability"]
    assert table["before"] == [[pytest.approx(0.7), pytest.approx(2 / 3, abs=1e-6), 3]]
    total = sum(n for *_, n in table["after"])
    assert sum(n / total * abs(right - sure) for sure, right, n in table["after"]) == pytest.approx(
        ece(found).value, abs=1e-5
    )
