"""Skill kept: the same for any mix of labels, no wild ratios, honest intervals and tests."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.random import Generator
from scipy.stats import spearmanr
from scipy.stats import t as student_t

from conftest import outcomes
from disorder.errors import DisorderError, NothingToMeasure
from disorder.metrics import SkillRatio, difference_of, measure
from disorder.metrics.scoring import Metric
from disorder.metrics.statistics.intervals import student
from disorder.metrics.statistics.ranks import rank_influence
from disorder.types import Outcomes, Task

SKEWED = [2] * 176 + [1] * 20 + [0] * 4  # 88 / 10 / 2
BALANCED = [0, 1, 2] * 60


def falls_back(gold: list[int], label: int) -> Outcomes:
    """A model that knows every original text, and gives one label as soon as a word moves."""
    return outcomes(gold, gold, [[label] * 3 for _ in gold])


@pytest.mark.parametrize("gold", [SKEWED, BALANCED])
@pytest.mark.parametrize("label", [0, 1, 2])
def test_a_constant_fallback_keeps_no_skill_whatever_the_mix(gold: list[int], label: int) -> None:
    assert measure("skill_kept", falls_back(gold, label)).value == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("gold", [SKEWED, BALANCED])
def test_a_bag_of_words_keeps_all_of_it(gold: list[int]) -> None:
    answers = [label if i % 5 else (label + 1) % 3 for i, label in enumerate(gold)]
    score = measure("skill_kept", outcomes(gold, answers, [[a] * 3 for a in answers]))
    assert score.value == 1
    assert score.low < 1 < score.high
    assert score.n == len(gold)


def test_worked_by_hand() -> None:
    """Before 9 of 10 and 7 of 10, after half and 3 in 5: (0.55 − 0.5) ÷ (0.8 − 0.5)."""
    gold = [0] * 10 + [1] * 10
    before = [0] * 9 + [1] + [1] * 7 + [0] * 3
    after = [[0, 1]] * 10 + [[1, 1]] * 2 + [[1, 0]] * 8
    found = measure("skill_kept", outcomes(gold, before, after, labels=("yes", "no")))
    assert found.value == pytest.approx(0.05 / 0.3)


def test_the_interval_is_fiellers() -> None:
    """The bounds solve (after − r · before)² = t² · variance(after − r · before)."""
    rng = np.random.default_rng(0)
    gold = rng.integers(3, size=200)
    right = rng.random(200) < 0.8
    ratio = SkillRatio.of_labels(gold, right, rng.random(200) * 0.5 + 0.3 * right)
    bounds = ratio.interval()
    assert bounds is not None
    for r in bounds:
        contrast = np.array([1.0, -r])
        gap = ratio.after - r * ratio.before
        variance = contrast @ ratio.covariance @ contrast
        assert gap**2 == pytest.approx(student(ratio.freedom) ** 2 * variance)


def test_only_labels_that_the_gold_has_count() -> None:
    gold = [0, 1] * 50
    found = measure("skill_kept", outcomes(gold, gold, [[2, 2]] * 100))
    assert found.value == pytest.approx(-1)  # a third label is never right: below chance of 1/2


@pytest.mark.parametrize(
    ("gold", "before", "reason"),
    [
        ([0] * 20, [0] * 20, "all examples have the same gold label"),
        ([0, 1] * 50, [0] * 100, "balanced accuracy 0.50 .* is not above that of one constant"),
        ([0, 1] * 4, [0, 1, 0, 1, 0, 1, 1, 0], "balanced accuracy 0.75 .* cannot be told from"),
        ([0, 1] * 50, [1, 0] * 50, "balanced accuracy 0.00 .* is not above"),
    ],
)
def test_no_ratio_without_skill(gold: list[int], before: list[int], reason: str) -> None:
    with pytest.raises(NothingToMeasure, match=reason):
        measure("skill_kept", outcomes(gold, before, [[0]] * len(gold), labels=("yes", "no")))


def test_a_copy_has_no_gold_label_to_keep() -> None:
    with pytest.raises(NothingToMeasure, match="a copy"):
        measure("skill_kept", outcomes(BALANCED, BALANCED, [[g] for g in BALANCED], is_copy=True))


def test_it_cannot_be_watched_and_says_so() -> None:
    with pytest.raises(DisorderError, match="stop_when: skill_kept is not a mean"):
        Metric.named("skill_kept").check_watched(Task("toy", ("a", "b", "c")))


def numbers(rng: Generator, n: int, kept: float) -> Outcomes:
    """A regression whose predictions follow the gold numbers, and after it partly."""
    gold = rng.normal(size=n)
    before = gold + rng.normal(size=n)
    after = kept * before[:, None] + (1 - kept) * rng.normal(size=(n, 4)) * 1.4
    return Outcomes(
        transformation="derange",
        task=Task("stsb"),
        example=np.arange(n).astype(str),
        gold=gold,
        original=before[:, None],
        predictions=after[:, :, None],
        is_simple=np.ones(n, dtype=bool),
    )


class TestNumbers:
    def test_it_is_the_ratio_of_rank_correlations(self) -> None:
        made = numbers(np.random.default_rng(1), 80, 0.6)
        before = spearmanr(made.gold, made.original[:, 0]).statistic
        after = [spearmanr(made.gold, column).statistic for column in made.predictions[:, :, 0].T]
        assert measure("skill_kept", made).value == pytest.approx(np.mean(after) / before)

    def test_influences_give_the_spread_of_the_correlation(self) -> None:
        rng = np.random.default_rng(2)
        n = 150
        found, spreads = [], []
        for _ in range(400):
            x = rng.normal(size=n).round(1)  # with ties
            y = x + rng.normal(size=n)
            found.append(spearmanr(x, y).statistic)
            spreads.append(rank_influence(x, y).std() / np.sqrt(n))
            assert rank_influence(x, y).mean() == pytest.approx(0, abs=1e-9)
        assert np.mean(spreads) == pytest.approx(np.std(found), rel=0.1)

    def test_unrelated_predictions_have_no_skill(self) -> None:
        made = numbers(np.random.default_rng(3), 60, 0.5)
        shuffled = Outcomes(
            **{**vars_of(made), "gold": np.random.default_rng(4).permutation(np.arange(60.0))}
        )
        with pytest.raises(NothingToMeasure, match=r"rank correlation .* on original texts"):
            measure("skill_kept", shuffled)

    @pytest.mark.parametrize("kept", [0.0, 0.5, 1.0])
    def test_coverage(self, kept: float) -> None:
        rng = np.random.default_rng(5)
        truth = measure("skill_kept", numbers(rng, 30_000, kept)).value
        scores = [measure("skill_kept", numbers(rng, 60, kept)) for _ in range(200)]
        assert np.mean([s.low <= truth <= s.high for s in scores]) >= 0.93


def vars_of(made: Outcomes) -> dict[str, object]:
    fields = ("transformation", "task", "example", "gold", "original", "predictions", "is_simple")
    return {name: getattr(made, name) for name in fields}


@pytest.mark.parametrize("freedom", [1, 2, 3, 5, 20, 200])
@pytest.mark.parametrize("z", [0.5, 1.0, 3.0])
def test_students_t_at_any_level_is_scipys(freedom: int, z: float) -> None:
    from scipy.stats import norm

    rel = 0.06 if freedom == 3 else 0.02
    assert student(freedom, z) == pytest.approx(student_t.isf(norm.sf(z), freedom), rel=rel)


def two_models(
    rng: Generator, n: int, kept: tuple[float, float]
) -> tuple[SkillRatio, SkillRatio, float]:
    """Two models on the same examples, alike on most of them; each keeps a share of its rows."""
    gold = rng.choice(3, size=n, p=(0.6, 0.3, 0.1))
    shared = rng.random(n)
    made = []
    for share in kept:
        right = np.where(rng.random(n) < 0.8, shared, rng.random(n)) < 0.85
        keeps = np.where(rng.random(n) < 0.8, shared[::-1], rng.random(n)) < share
        made.append(SkillRatio.of_labels(gold, right, np.where(keeps, right, 1 / 3)))
    return made[0], made[1], kept[1] - kept[0]


class TestDifference:
    @pytest.mark.parametrize("n", [60, 400])
    @pytest.mark.parametrize("kept", [(0.5, 0.5), (0.9, 0.6), (0.0, 0.3)])
    def test_the_interval_holds_and_the_test_agrees(
        self, n: int, kept: tuple[float, float]
    ) -> None:
        rng = np.random.default_rng(n)
        inside, rejected, given = 0, 0, 0
        for _ in range(300):
            base, other, truth = two_models(rng, n, kept)
            if base.interval() is None or other.interval() is None:
                continue
            found = difference_of(base, other)
            given += 1
            inside += found.low <= truth <= found.high
            rejected += found.p < 0.05
            assert (found.p < 0.05) == (not found.low <= 0 <= found.high)
        assert given > 100
        assert inside / given >= 0.93
        if kept[0] == kept[1]:
            assert rejected / given <= 0.06

    def test_models_that_never_differ_still_have_doubt(self) -> None:
        rng = np.random.default_rng(0)
        base, _, _ = two_models(rng, 100, (0.5, 0.5))
        found = difference_of(base, base)
        assert (found.difference, found.p, found.test) == (0, 1, "fieller")
        assert found.low < 0 < found.high

    def test_no_difference_without_skill(self) -> None:
        gold = np.array([0, 1] * 30)
        good = SkillRatio.of_labels(gold, gold >= 0, np.full(60, 0.5))
        none = SkillRatio.of_labels(gold, gold == 0, np.full(60, 0.5))
        with pytest.raises(NothingToMeasure):
            difference_of(good, none)
