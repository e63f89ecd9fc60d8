"""Are the intervals honest? Wilson against scipy, the bootstrap against simulation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest
from scipy.stats import t as student_t

from disorder.errors import NothingToMeasure
from disorder.metrics.statistics import intervals
from disorder.metrics.statistics.intervals import (
    ONE_SCORE,
    average,
    mean,
    ratio,
    share,
    student,
    wilson,
)


@pytest.mark.parametrize("n", [1, 2, 7, 100, 6655])
def test_wilson_is_scipys(n: int) -> None:
    for k in sorted({0, 1, n // 3, n // 2, n - 1, n}):
        low, high = wilson(k / n, n)
        expected = binomtest(k, n).proportion_ci(method="wilson")
        assert low == pytest.approx(expected.low, abs=1e-12)
        assert high == pytest.approx(expected.high, abs=1e-12)


def test_share_counts_claims() -> None:
    score = share(np.array([True, False, True, True]), skipped=5)
    assert (score.value, score.n, score.skipped) == (0.75, 4, 5)
    assert (score.low, score.high) == wilson(0.75, 4)


def test_a_share_of_all_or_none_still_has_doubt() -> None:
    assert share(np.ones(10, dtype=bool)).low == pytest.approx(0.7224672001371107)  # 10 / (10 + z²)
    assert share(np.ones(10, dtype=bool)).high == 1
    assert 0.15 < mean(np.zeros(10)).high < 0.35
    assert mean(np.zeros(10)).low == 0
    assert mean(np.full(30, 0.5)).low < 0.5 < mean(np.full(30, 0.5)).high


def test_one_example_a_little_off_does_not_make_the_doubt_vanish() -> None:
    nearly = np.ones(30)
    nearly[0] = 0.99
    assert mean(nearly).low == pytest.approx(mean(np.ones(30)).low, abs=0.01)


@pytest.mark.parametrize("n", [5, 30, 300])
@pytest.mark.parametrize("truth", [0.5, 0.9, 0.98])
def test_intervals_near_the_edge_and_for_few_examples_hold(n: int, truth: float) -> None:
    """Examples whose share is all or nothing, the worst case: at least nine times in ten the truth
    is inside.
    """
    rng = np.random.default_rng(n)
    scores = [mean((rng.random(n) < truth).astype(float)) for _ in range(1000)]
    assert np.mean([score.low <= truth <= score.high for score in scores]) >= 0.9


def test_nothing_is_an_error() -> None:
    for function in (share, mean):
        with pytest.raises(NothingToMeasure):
            function(np.array([]))


def test_the_bootstrap_covers_the_truth_as_often_as_it_says() -> None:
    """Examples with their own rate ~ Beta(2, 1) and ten permutations each: the mean acceptance is
    2/3.

    3,000 runs: over 300, a true coverage of 0.947 falls below 0.93 by chance once in ten.
    """
    rng, n_runs, n_hits = np.random.default_rng(0), 3000, 0
    for _ in range(n_runs):
        score = mean(rng.binomial(10, rng.beta(2, 1, size=200)) / 10)
        n_hits += score.low <= 2 / 3 <= score.high
    assert 0.93 <= n_hits / n_runs < 1


def test_the_unit_is_the_example_and_not_its_permutations() -> None:
    """Twenty examples that are all-or-nothing: as wide as for twenty coins, however many
    permutations were predicted.
    """
    score = mean(np.repeat([0.0, 1.0], 10))
    assert score.high - score.low == pytest.approx(2 * 1.96 * 0.5 / np.sqrt(20), rel=0.2)


def test_a_ratio_of_equal_wholes_is_a_mean() -> None:
    values = np.random.default_rng(0).random(80)
    one, other = ratio(7 * values, np.full(80, 7.0)), mean(values)
    assert (one.value, one.low, one.high, one.n) == pytest.approx(
        (other.value, other.low, other.high, other.n), rel=1e-12
    )


def test_a_ratio_weighs_examples_by_their_wholes_and_leaves_out_empty_ones() -> None:
    score = ratio(np.array([1.0, 9.0, 0.0]), np.array([10.0, 10.0, 0.0]))
    assert (score.value, score.n) == (0.5, 2)
    assert 0.15 < ratio(np.zeros(10), np.full(10, 3.0)).high < 0.35
    with pytest.raises(NothingToMeasure):
        ratio(np.zeros(2), np.zeros(2))


def test_the_ratio_covers_the_truth_as_often_as_it_says() -> None:
    """Examples of very different size, whose rate does not hang on it: 2/3 of all permutations are
    accepted.
    """
    rng, n_runs, n_hits = np.random.default_rng(0), 1000, 0
    for _ in range(n_runs):
        sizes = rng.integers(1, 40, size=150)
        score = ratio(
            rng.binomial(sizes, rng.beta(2, 1, size=150)).astype(float), sizes.astype(float)
        )
        n_hits += score.low <= 2 / 3 <= score.high
    assert 0.92 <= n_hits / n_runs < 0.98


def test_blocks_do_not_change_the_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(0).random(300)
    whole = mean(values)
    monkeypatch.setattr(intervals, "ONE_SCORE", replace(ONE_SCORE, block=30_000))
    again = mean(values)
    assert (again.value, again.low, again.high) == pytest.approx(
        (whole.value, whole.low, whole.high), rel=1e-12
    )


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 7, 20, 1000])
def test_students_t_is_scipys(freedom: int) -> None:
    assert student(freedom) == pytest.approx(student_t.ppf(0.975, freedom), rel=2e-3)


def test_an_average_of_few_is_as_doubtful_as_students_t_says() -> None:
    rng = np.random.default_rng(0)
    scores = [average(rng.normal(3, 1, 6)) for _ in range(400)]
    assert 0.92 < np.mean([score.low <= 3 <= score.high for score in scores]) < 0.98
    with pytest.raises(NothingToMeasure, match="one example has no interval"):
        average(np.array([0.5]))
