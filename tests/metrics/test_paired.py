"""Are paired comparisons honest? Known answers, the size of the tests under no difference, the
coverage of the intervals.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from conftest import outcomes
from disorder.errors import NothingToMeasure, UnknownName
from disorder.metrics import (
    BinnedGap,
    Mean,
    RankCorrelation,
    Share,
    decompose,
    difference_of,
    holm,
    scores,
)
from disorder.metrics.statistics import paired
from disorder.metrics.statistics.intervals import PAIRED
from disorder.metrics.statistics.paired import contributions, mcnemar, newcombe, sign_flip
from disorder.types import Outcomes, Task

N_RUNS = 600


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer draws, so that hundreds of comparisons can be simulated."""
    monkeypatch.setattr(paired, "PAIRED", replace(PAIRED, n_resamples=400))
    monkeypatch.setattr(paired, "N_FLIPS", 399)


def bounds(share: float) -> tuple[int, int]:
    """Where a count of N_RUNS falls 999 times in 1,000."""
    low, high = binom.ppf([0.0005, 0.9995], N_RUNS, share)
    return int(low), int(high)


class TestShares:
    @pytest.mark.parametrize(
        ("gained", "lost"),
        [(0, 0), (1, 0), (0, 6), (3, 9), (7, 7), (40, 61), (1000, 1100), (8, 5000)],
    )
    def test_mcnemar_is_the_exact_binomial_test(self, gained: int, lost: int) -> None:
        expected = binomtest(gained, gained + lost).pvalue if gained + lost else 1.0
        assert mcnemar(gained, lost) == pytest.approx(expected, rel=1e-9)

    def test_newcombes_own_example(self) -> None:
        """Newcombe (1998), 36 with both, 12 and 2 with one, 0 with neither: method 10 gives 0.0569
        to 0.3404.
        """
        assert newcombe(36, 12, 2, 50) == pytest.approx((0.0569, 0.3404), abs=5e-5)

    def test_newcombe_mirrors(self) -> None:
        low, high = newcombe(20, 9, 4, 50)
        assert newcombe(20, 4, 9, 50) == pytest.approx((-high, -low))

    def test_two_equal_models_still_leave_doubt(self) -> None:
        both = Share(np.arange(50) < 30)
        found = difference_of(both, both)
        assert (found.difference, found.p, found.n, found.test) == (0, 1, 50, "mcnemar")
        assert -0.2 < found.low < 0 < found.high < 0.2

    @pytest.mark.parametrize("n", [20, 100])
    @pytest.mark.parametrize(
        "cells",
        [
            (0.6, 0.1, 0.1, 0.2),
            (0.85, 0.1, 0.02, 0.03),
            (0.3, 0.3, 0.1, 0.3),
            (0.9, 0.01, 0.04, 0.05),
        ],
    )
    def test_newcombe_covers(self, n: int, cells: tuple[float, ...]) -> None:
        """At least 93 in 100 at any setting, as Newcombe's own tables promise for method 10 but for
        the odd dip.
        """
        drawn = np.random.default_rng(1).multinomial(n, cells, size=2000)
        truth = cells[1] - cells[2]
        hits = [
            low <= truth <= high
            for low, high in (newcombe(a, b, c, n) for a, b, c, _ in drawn.tolist())
        ]
        assert np.mean(hits) >= 0.93

    def test_mcnemar_keeps_its_size(self) -> None:
        drawn = np.random.default_rng(2).multinomial(60, (0.5, 0.15, 0.15, 0.2), size=N_RUNS)
        assert sum(mcnemar(b, c) <= 0.05 for _, b, c, _ in drawn.tolist()) <= bounds(0.05)[1]


class TestMean:
    def test_contributions_sum_to_the_difference(self) -> None:
        rng = np.random.default_rng(0)
        base, other = (
            Mean(rng.random(40), rng.random(40) < share, span=0.5) for share in (0.3, 0.9)
        )
        assert contributions(base, other).sum() == pytest.approx(other.value - base.value)

    def test_contributions_of_a_plain_mean_are_the_differences(self) -> None:
        rng, everyone = np.random.default_rng(0), np.ones(9, dtype=bool)
        a, b = rng.random(9), rng.random(9)
        assert contributions(Mean(a, everyone), Mean(b, everyone)) == pytest.approx((b - a) / 9)

    def test_sign_flip_is_the_full_enumeration(self) -> None:
        added = np.random.default_rng(5).normal(0.35, 1, size=10)
        sums = np.array(list(product([-1, 1], repeat=10))) @ added
        exact = float((np.abs(sums) >= abs(added.sum()) - 1e-12).mean())
        assert sign_flip(added) == pytest.approx(exact, abs=4 * sqrt(exact * (1 - exact) / 9999))

    def test_a_clear_difference_is_as_rare_as_it_is(self) -> None:
        """Of 200 equal differences all signs must agree: 2^-199; Hoeffding's bound is 2e^-100, and
        9,999 flips see neither.
        """
        assert sign_flip(np.full(200, 0.1)) == pytest.approx(2 * np.exp(-100), rel=1e-6)
        assert sign_flip(np.full(3, 0.1)) == pytest.approx(0.25, abs=0.02)
        assert sign_flip(np.zeros(5)) == 1

    def test_seeded_and_antisymmetric(self) -> None:
        rng = np.random.default_rng(0)
        base, other = (Mean(rng.random(40), rng.random(40) < 0.7) for _ in range(2))
        there, back = difference_of(base, other), difference_of(other, base)
        assert there == difference_of(base, other)
        assert there != difference_of(base, other, seed=1)
        assert (back.difference, back.p, back.n) == pytest.approx(
            (-there.difference, there.p, there.n)
        )
        assert (back.low, back.high) == pytest.approx((-there.high, -there.low), abs=0.03)

    def test_two_equal_models_still_leave_doubt(self) -> None:
        same = Mean(np.full(50, 0.5), np.ones(50, dtype=bool))
        found = difference_of(same, same)
        assert (found.difference, found.p) == (0, 1)
        assert -0.1 < found.low < 0 < found.high < 0.1

    @pytest.mark.usefixtures("quick")
    @pytest.mark.parametrize("n", [12, 60])
    def test_the_size_is_right_for_models_of_one_law(self, n: int) -> None:
        rng, everyone, n_found = np.random.default_rng(n), np.ones(n, dtype=bool), 0
        for seed in range(N_RUNS):
            rates = rng.beta(2, 1, size=n)
            base, other = (Mean(rng.binomial(10, rates) / 10, everyone) for _ in range(2))
            n_found += sign_flip(contributions(base, other), seed=seed) <= 0.05
        assert bounds(0.05)[0] <= n_found <= bounds(0.05)[1]

    @pytest.mark.usefixtures("quick")
    def test_the_size_is_right_where_one_model_is_right_far_less_often(self) -> None:
        """Models with the same P_c, right on 30 % and 90 % of the examples: swapping them would
        reject too often.
        """
        rng, n, n_found = np.random.default_rng(3), 120, 0
        for seed in range(N_RUNS):
            base, other = (
                Mean(rng.binomial(10, rng.beta(2, 1, size=n)) / 10, rng.random(n) < a)
                for a in (0.3, 0.9)
            )
            n_found += sign_flip(contributions(base, other), seed=seed) <= 0.05
        assert bounds(0.05)[0] <= n_found <= bounds(0.06)[1]

    @pytest.mark.usefixtures("quick")
    @pytest.mark.parametrize("kind", ["spread", "all or nothing", "own sets"])
    @pytest.mark.parametrize("n", [25, 150])
    def test_the_interval_covers(self, kind: str, n: int) -> None:
        rng, n_hits = np.random.default_rng(n), 0
        everyone = np.ones(n, dtype=bool)
        truth = {"spread": 0.1, "all or nothing": 0.08, "own sets": 2 / 3 - 1 / 2}[kind]
        for seed in range(N_RUNS):
            if kind == "spread":
                rates = rng.uniform(0, 0.9, size=n)
                base, other = (
                    Mean(rng.binomial(10, rates + more) / 10, everyone) for more in (0, 0.1)
                )
            elif kind == "all or nothing":
                cell = rng.choice(4, size=n, p=[0.5, 0.1, 0.02, 0.38])
                base, other = (
                    Mean((cell % 2 == 0) * (cell != 3) * 1.0, everyone),
                    Mean((cell < 2) * 1.0, everyone),
                )
            else:
                base = Mean(rng.beta(1, 1, size=n), rng.random(n) < 0.5)
                other = Mean(rng.beta(2, 1, size=n), rng.random(n) < 0.8)
            found = difference_of(base, other, seed=seed)
            n_hits += found.low <= truth <= found.high
        assert n_hits / N_RUNS >= 0.925


class TestTakenApart:
    @given(st.integers(0, 10**6), st.sampled_from([1, 7]))
    def test_every_score_is_the_metrics_own(self, seed: int, q: int) -> None:
        given = drawn(seed, n=30, q=q)
        for name, score in scores(given, points={"omega": ("0.5",)}):
            if isinstance(score, str):
                with pytest.raises(NothingToMeasure):
                    decompose(name, given).score()
            else:
                assert decompose(name, given).value == pytest.approx(score.value, abs=1e-12)

    def test_released_fidelity_too(self) -> None:
        given = drawn(3, n=40, q=10, fidelity="released")
        for name, score in scores(given):
            assert decompose(name, given).value == pytest.approx(score.value, abs=1e-12)

    def test_a_resample_of_wos_is_the_wos_of_the_examples_drawn(self) -> None:
        """Weights are copies of examples: dev-r is filtered and balanced again on the copies."""
        given = drawn(1, n=40, q=5)
        taken = decompose("wos", given)
        assert isinstance(taken, Mean)
        rng = np.random.default_rng(0)
        weights = np.stack(
            [np.bincount(rng.integers(40, size=40), minlength=40) for _ in range(20)]
        ).astype(float)
        sums, counts = taken.weighted(weights)
        for row, total, n in zip(weights, sums, counts, strict=True):
            copies = given.take(np.repeat(np.arange(40), row.astype(int)))
            again = decompose("wos", copies)
            assert taken.in_units(total / n) == pytest.approx(again.value)

    def test_no_weights_no_change(self) -> None:
        given = drawn(2, n=30, q=5)
        for name in ("p_c", "p_f", "wos", "agreement", "entropy_c"):
            taken = decompose(name, given)
            assert isinstance(taken, Mean)
            total, n = taken.weighted(np.ones((1, 30)))
            assert taken.in_units(total[0] / n[0]) == pytest.approx(taken.value)

    def test_rank_correlation(self) -> None:
        rng = np.random.default_rng(0)
        gold = rng.random(60)
        noise = [rng.normal(size=(60, 3)) for _ in range(2)]
        good, bad = (
            RankCorrelation(gold, gold[:, None] + 0.1 * noise[0]),
            RankCorrelation(gold, gold[:, None] + noise[1]),
        )
        found = difference_of(good, bad)
        assert found.test == "bootstrap"
        assert found.difference == pytest.approx(bad.value - good.value)
        assert found.high < 0
        assert found.p < 0.01
        assert difference_of(good, good).p == 1

    def test_calibration_errors_are_compared(self) -> None:
        rng = np.random.default_rng(1)
        counts = np.full(80, 2)
        calibrated = BinnedGap(rng.normal(0, 0.05, size=(80, 15)), counts)
        certain = BinnedGap(calibrated.gaps - 0.1, counts)
        found = difference_of(calibrated, certain)
        assert found.difference == pytest.approx(certain.value - calibrated.value)
        assert found.low > 0
        assert difference_of(certain, certain).difference == 0

    def test_an_unknown_score_is_an_error(self) -> None:
        with pytest.raises(UnknownName, match="unknown metric"):
            decompose("score_of_a_plugin", drawn(0, n=5, q=2))


def drawn(seed: int, *, n: int, q: int, **more: object) -> Outcomes:
    """A model that is right on original texts six times in ten, and on perturbed ones at a rate of
    its own per example.
    """
    rng = np.random.default_rng(seed)
    gold, rates = rng.integers(3, size=n), rng.random(n)[:, None]
    original = np.where(rng.random(n) < 0.6, gold, rng.integers(3, size=n))
    answers = np.where(rng.random((n, q)) < rates, gold[:, None], rng.integers(3, size=(n, q)))
    return outcomes(gold, original, answers, sure=0.9, **more)


class TestHolm:
    def test_worked_by_hand(self) -> None:
        assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
        assert holm([]) == []
        assert holm([0.9, 0.8]) == [1, 1]

    @given(st.lists(st.floats(0, 1), max_size=20))
    def test_never_smaller_and_never_out_of_order(self, p_values: list[float]) -> None:
        adjusted = holm(p_values)
        assert all(p <= q <= 1 for p, q in zip(p_values, adjusted, strict=True))
        assert [q for _, q in sorted(zip(p_values, adjusted, strict=True))] == sorted(adjusted)


def test_wos_finds_a_real_difference_and_no_other() -> None:
    """A bag of words against a model at chance on perturbed texts; and against itself."""
    n, task = 90, Task("toy", ("x", "y", "z"), "b", "y", "x")
    gold = np.arange(n) % 3
    bag = outcomes(gold, gold, np.repeat(gold[:, None], 6, axis=1), task=task)
    reader = outcomes(gold, gold, (gold[:, None] + np.arange(6)) % 3, task=task)
    taken = [decompose("wos", each) for each in (bag, reader)]
    found = difference_of(taken[0], taken[1])  # type: ignore[arg-type]
    assert (found.difference, found.n) == (pytest.approx(1.0), 90)
    assert found.low > 0.8
    assert found.p < 1e-6
    assert difference_of(taken[0], taken[0]).p == 1  # type: ignore[arg-type]


def test_a_share_is_compared_with_a_mean() -> None:
    """Accuracy is a share where every example has one variant, and else a mean."""
    holds = np.array([True, True, False, True] * 20)
    share, mean = Share(holds), Mean.over_all(holds * 0.5)
    found = difference_of(share, mean)
    assert found.difference == pytest.approx(-0.375)
    assert found.low <= -0.375 <= found.high < 0
    assert difference_of(mean, share).difference == pytest.approx(0.375)


@pytest.mark.filterwarnings("error")
def test_resamples_without_a_prediction_count_for_nothing() -> None:
    few = BinnedGap(np.array([[0.2], [0.0], [0.0], [0.0]]), np.array([1, 0, 0, 0]))
    score = few.score()
    assert score.value == pytest.approx(0.2)
    assert score.low <= score.value <= score.high
    assert difference_of(few, few).difference == 0
