"""Verdict rule and scores of trials: verdicts and intervals worked by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from disorder.errors import BadSetting, NothingToMeasure
from disorder.results.writing import in_points
from disorder.types import Score
from disorder.verbs.sanity.checks.overlap import accuracy_gap
from disorder.verbs.sanity.scoring import (
    balanced_accuracy,
    balanced_difference,
    clustered_share,
    correlation,
    correlation_difference,
)
from disorder.verbs.sanity.verdicts import (
    NEEDED,
    NOT_NEEDED,
    TOO_LITTLE,
    UNDECIDED,
    VerdictRule,
    joint_bounds,
    reason,
)

GOOD = Score(0.8, 0.78, 0.82, 1000)
WEAK = Score(0.56, 0.54, 0.58, 1000)  # 12 % of the way from 0.5 to 1
NONE = Score(0.51, 0.49, 0.53, 1000)


def cost(value: float, half: float = 0.01) -> Score:
    return Score(value, value - half, value + half, 1000)


@pytest.mark.parametrize(
    ("lost", "original", "answer"),
    [
        (cost(0.1), GOOD, NEEDED),
        (cost(0.01), GOOD, NOT_NEEDED),
        (cost(0.05), GOOD, UNDECIDED),
        (cost(-0.02), GOOD, NOT_NEEDED),
        (cost(0.01), WEAK, UNDECIDED),
        (cost(0.0), NONE, UNDECIDED),
        (cost(0.1), NONE, UNDECIDED),
    ],
)
def test_verdicts_follow_the_interval(lost: Score, original: Score, answer: str) -> None:
    assert VerdictRule().decide(lost, original, 0.5)[0] == answer


def test_a_loss_proves_need_even_in_a_weak_model() -> None:
    assert VerdictRule(margin=0.02).decide(cost(0.04), WEAK, 0.5)[0] == NEEDED


def test_it_says_what_prevents_an_answer() -> None:
    assert "has not learned the task" in VerdictRule().decide(cost(0.0), NONE, 0.5)[1]
    assert VerdictRule().decide(cost(0.0), WEAK, 0.5)[1] == TOO_LITTLE
    assert "margin of 5 points" in VerdictRule().decide(cost(0.05), GOOD, 0.5)[1]


def test_one_of_several_costs_is_judged_by_a_wider_interval() -> None:
    near = cost(0.065)  # 0.055 to 0.075 alone; for eight together 2.73 / 1.96 times as wide
    far = cost(0.1)
    assert VerdictRule().decide(near, GOOD, 0.5)[0] == NEEDED
    answer, trouble = VerdictRule().decide(near, GOOD, 0.5, together=100)
    assert answer == UNDECIDED
    assert "holds for 100 costs together, [4." in trouble
    assert VerdictRule().decide(far, GOOD, 0.5, together=8)[0] == NEEDED
    assert joint_bounds(far, 8) == pytest.approx(
        (0.1 - 0.01 * 2.7344 / 1.95996, 0.1 + 0.01 * 2.7344 / 1.95996), abs=1e-5
    )
    assert joint_bounds(far, 1) == pytest.approx((far.low, far.high))


def test_the_margin_can_be_set() -> None:
    assert VerdictRule(margin=0.2).decide(cost(0.1), GOOD, 0.5)[0] == NOT_NEEDED
    for wrong in (0.0, 1.0, -0.1):
        with pytest.raises(BadSetting):
            VerdictRule(margin=wrong)
    with pytest.raises(BadSetting):
        VerdictRule(skill=1.0)


def test_baselines_give_away_what_is_above_chance_by_the_margin() -> None:
    assert VerdictRule().gives_away(cost(0.1)) == "gives away"
    assert VerdictRule().gives_away(cost(0.0)) == "gives nothing away"
    assert VerdictRule().gives_away(cost(0.05)) == UNDECIDED


def test_costs_are_written_in_points() -> None:
    assert in_points(Score(0.012, -0.006, 0.018, 9)) == "1.2 points [−0.6, 1.8]"
    assert (
        reason("Shuffling", Score(0.012, 0.006, 0.018, 9), "")
        == "Shuffling costs 1.2 points [0.6, 1.8]"
    )


def test_balanced_accuracy_by_hand() -> None:
    gold, right = np.array([0] * 8 + [1] * 2), np.array([True] * 8 + [True, False])
    assert balanced_accuracy(right, gold).value == pytest.approx((1.0 + 0.5) / 2)
    assert balanced_accuracy(np.ones(10, dtype=bool), gold).low < 1.0  # agreement is no certainty


def test_differences_are_paired_and_by_label() -> None:
    gold = np.array([0, 0, 0, 0, 1, 1])
    before = np.array([1, 1, 1, 1, 1, 1], dtype=bool)
    after = np.array([1, 1, 0, 0, 1, 0], dtype=bool)
    assert balanced_difference(before, after, gold).value == pytest.approx(0.5)
    with pytest.raises(NothingToMeasure):
        balanced_accuracy(np.array([], dtype=bool), np.array([], dtype=int))


def test_intervals_cover_the_truth_as_often_as_they_say() -> None:
    rng, covered = np.random.default_rng(0), 0
    for _ in range(400):
        gold = (rng.random(200) < 0.7).astype(int)
        right = rng.random(200) < np.where(gold == 1, 0.9, 0.6)
        score = balanced_accuracy(right, gold)
        covered += score.low <= 0.75 <= score.high
    assert 0.92 <= covered / 400 <= 0.985


def test_intervals_of_passages_with_many_rows_cover_too() -> None:
    rng, covered = np.random.default_rng(0), np.zeros(4)
    clusters, gold = np.repeat(np.arange(100), 20), np.repeat(rng.integers(2, size=100), 20)
    numbers = np.tile(np.arange(20.0), 100)
    for _ in range(400):
        ease = np.repeat(rng.beta(2, 1, 100), 20)
        right, than = rng.random(2000) < ease, rng.random(2000) < 0.5
        found = [
            (balanced_accuracy(right, gold, clusters=clusters), 2 / 3),
            (balanced_difference(right, than, gold, clusters=clusters), 2 / 3 - 1 / 2),
            (clustered_share(right, clusters), 2 / 3),
            (accuracy_gap(right, numbers < 5, numbers > 12, clusters), 0.0),
        ]
        covered += [score.low <= truth <= score.high for score, truth in found]
    assert (covered / 400 >= 0.9).all(), covered / 400
    assert (covered / 400 <= 0.99).all(), covered / 400


def test_correlations_resample_passages() -> None:
    rng = np.random.default_rng(0)
    clusters = np.repeat(np.arange(40), 20)
    gold = np.repeat(rng.normal(size=40), 20) + 0.01 * rng.normal(size=800)
    numbers = np.repeat(rng.normal(size=40), 20)
    alone, together = correlation(numbers, gold), correlation(numbers, gold, clusters=clusters)
    assert together.value == pytest.approx(alone.value)
    assert together.high - together.low > 3 * (alone.high - alone.low)  # √20 times as wide
    with pytest.raises(NothingToMeasure, match="three first texts"):
        correlation(numbers, gold, clusters=np.zeros(800, dtype=int))


def test_one_passage_tells_nothing_of_others() -> None:
    score = balanced_accuracy(
        np.ones(50, dtype=bool), np.zeros(50, dtype=int), clusters=np.zeros(50, dtype=int)
    )
    assert (score.value, score.low, score.high) == (1.0, 0.0, 1.0)


@given(
    st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(0, 2)), min_size=1, max_size=60)
)
def test_any_predictions_have_an_interval_around_their_score(
    rows: list[tuple[bool, bool, int]],
) -> None:
    one, two, gold = (np.array(column) for column in zip(*rows, strict=True))
    for score in (balanced_accuracy(one, gold), balanced_difference(one, two, gold)):
        assert score.low <= score.value <= score.high
    assert balanced_difference(one, one, gold).value == 0


def test_rank_correlation_agrees_with_a_reference() -> None:
    scipy = pytest.importorskip("scipy.stats", reason="needs scipy")
    rng = np.random.default_rng(1)
    gold = np.round(rng.random(300) * 5, 1)
    good, bad = gold + rng.normal(size=300), rng.normal(size=300)
    assert correlation(good, gold).value == pytest.approx(scipy.spearmanr(good, gold).statistic)
    expected = scipy.spearmanr(good, gold).statistic - scipy.spearmanr(bad, gold).statistic
    found = correlation_difference(good, bad, gold)
    assert found.value == pytest.approx(expected)
    assert found.low > 0
    assert correlation(np.zeros(300), gold).value == 0
