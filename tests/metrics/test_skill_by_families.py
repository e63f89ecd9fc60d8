"""Statistics over families, of answers that are none, of stopping and of draws that cross."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

import numpy as np
import pytest
from scipy.stats import norm
from scipy.stats import t as student_t

from disorder.errors import NothingToMeasure
from disorder.metrics import SkillRatio
from disorder.metrics.statistics.anytime import planned_looks
from disorder.metrics.statistics.decomposition import (
    BinnedGap,
    Decomposition,
    Mean,
    Share,
    crossed_mean,
    variance_ledger,
    variance_ratio,
    variants_needed,
)
from disorder.metrics.statistics.intervals import effective_number, moves_of_families
from disorder.metrics.statistics.skill import (
    hold_too_little,
    labels_that_count,
    left_out_labels,
    skill_scores,
    three_ratios,
    variant_scores,
)
from disorder.metrics.statistics.skill_ratio import beyond_chance
from disorder.types import Floats, Ints
from disorder.verbs.audit.behaviour import noise_floor, repeated_texts

SKILLED = 0.8


class TestVariance:
    def test_leaving_out_by_hand(self) -> None:
        """Two labels; family 0 has two examples of label 0, family 1 one of each, family 2 one of
        label 1. Means 2/3 and 1/2; without the families they are 1 and 1/2, 1/2 and 0, 2/3 and 1.
        """
        family = np.array([0, 0, 1, 1, 2])
        label = np.array([0, 0, 0, 1, 1])
        score = np.array([[1.0], [0.0], [1.0], [1.0], [0.0]])
        moves = moves_of_families(family, label, score)
        whole = (2 / 3 + 1 / 2) / 2
        without = np.array([(1 + 1 / 2) / 2, (1 / 2 + 0) / 2, (2 / 3 + 1) / 2])
        assert moves.deviations[:, 0] == pytest.approx((without - whole) * sqrt(2 / 3))
        shares = np.array([2 / 6, 1 / 6 + 1 / 4, 1 / 4])
        assert moves.effective == pytest.approx(1 / (shares**2).sum())
        assert moves.effective_by_label == pytest.approx([9 / 5, 2])

    def test_the_effective_number(self) -> None:
        assert effective_number(np.array([3, 3, 3, 3])) == 4
        assert effective_number(np.array([90, 5, 5])) == pytest.approx(1 / (0.81 + 0.005))

    def test_families_of_one_example_change_nothing(self) -> None:
        gold, right, after = cell(50, 1, 0.5, np.random.default_rng(0))[:3]
        plain = SkillRatio.of_labels(gold, right, after)
        single = SkillRatio.of_labels(gold, right, after, np.arange(50))
        assert plain.interval() == single.interval()

    def test_copies_tell_nothing_new(self) -> None:
        """The interval of every example ten times is about that of every example once."""
        gold, right, after = cell(120, 1, 0.5, np.random.default_rng(0))[:3]
        once = SkillRatio.of_labels(gold, right, after).interval()
        family = np.repeat(np.arange(120), 10)
        copied = SkillRatio.of_labels(*(np.repeat(x, 10) for x in (gold, right, after)), family)
        found = copied.interval()
        assert once is not None
        assert found is not None
        assert found[1] - found[0] == pytest.approx(once[1] - once[0], rel=0.1)
        assert len(copied) == 1200
        assert copied.n_families == pytest.approx(120, rel=0.02)

    def test_a_family_with_several_labels_enters_once(self) -> None:
        gold = np.tile([0, 1], 30)
        family = np.repeat(np.arange(30), 2)
        ratio = SkillRatio.of_labels(gold, np.ones(60), np.full(60, 0.9), family)
        assert len(ratio.deviations) == 30
        assert ratio.freedom <= 29


class TestOtherScores:
    """Shares, means and calibration count families as well."""

    @pytest.mark.parametrize(
        "made",
        [
            lambda x: Share(x > 0.5),
            lambda x: Mean.over_all(x),
            lambda x: BinnedGap((x - 0.5)[:, None], np.ones(len(x), dtype=np.int64)),
        ],
    )
    def test_copies_narrow_no_interval(self, made: Callable[[Floats], Decomposition]) -> None:
        once = np.random.default_rng(0).random(80)
        copied = np.repeat(once, 10)
        family = np.repeat(np.arange(80), 10)
        alone, together = made(once).score(), made(copied).score(family=family)
        assert together.value == pytest.approx(alone.value)
        assert together.n == 800
        widths = [score.high - score.low for score in (alone, together)]
        assert widths[1] == pytest.approx(widths[0], rel=0.1)

    def test_a_share_covers_the_truth(self) -> None:
        """40 families × 10 that agree among themselves: as examples they cover about half."""
        rng = np.random.default_rng(0)
        family = np.repeat(np.arange(40), 10)
        hits = np.zeros(2)
        for _ in range(200):
            holds = rng.random(400) < rng.beta(0.3, 0.3, 40)[family]
            for i, own in enumerate((family, None)):
                found = Share(holds).score(family=own)
                hits[i] += found.low <= 0.5 <= found.high
        assert hits[0] / 200 >= 0.93
        assert hits[1] / 200 < 0.7


def cell(
    n_families: int,
    copies: int,
    kept: float,
    rng: np.random.Generator,
    *,
    n_labels: int = 3,
    is_mixed: bool = False,
) -> tuple[Ints, Floats, Floats, Ints]:
    """Gold, right before, right after, family: members of a family are right together, and keep or
    lose their skill together, which is the worst case.
    """
    family = np.repeat(np.arange(n_families), copies)
    n = len(family)
    gold = rng.integers(n_labels, size=n)
    if not is_mixed:
        gold = np.repeat(gold[:n_families], copies)
    right = np.repeat(rng.random(n_families) < SKILLED, copies).astype(float)
    is_kept = np.repeat(rng.random(n_families) < kept, copies)
    after = np.where(is_kept, right, rng.binomial(10, 1 / n_labels, size=n) / 10)
    return gold, right, after, family


@pytest.mark.parametrize("is_mixed", [False, True])
@pytest.mark.parametrize("kept", [0.2, 0.5, 0.9])
@pytest.mark.parametrize(("n_families", "copies"), [(40, 10), (133, 3)])
def test_row_12_intervals_cover_the_truth_in_families(
    n_families: int, copies: int, kept: float, is_mixed: bool
) -> None:
    """Without families they cover in 0.47 to 0.79 of the runs."""
    rng = np.random.default_rng(1)
    found = [
        SkillRatio.of_labels(*cell(n_families, copies, kept, rng, is_mixed=is_mixed)).interval()
        for _ in range(300)
    ]
    held = [bounds for bounds in found if bounds is not None]
    assert len(held) > 150
    covered = [low <= kept <= high for low, high in held]
    assert np.mean(covered) >= 0.93


class TestThreeRatios:
    def test_they_are_the_quotients_of_three_skills(self) -> None:
        gold = np.tile([0, 1], 40)
        found = three_ratios(gold, np.full(80, 0.9), np.full(80, 0.6), np.full(80, 0.75))
        assert found.r is not None
        assert found.s is not None
        assert found.t.value == pytest.approx(0.1 / 0.4)
        assert found.s.value == pytest.approx(0.25 / 0.4)
        assert found.r.value == pytest.approx(0.1 / 0.25)
        assert found.kept is found.r

    def test_without_a_control_there_is_one(self) -> None:
        gold = np.tile([0, 1], 40)
        found = three_ratios(gold, np.full(80, 0.9), np.full(80, 0.6))
        assert found.kept is found.t
        assert found.r is None

    def test_a_control_without_skill_gives_no_interval(self) -> None:
        gold = np.tile([0, 1], 40)
        found = three_ratios(gold, np.full(80, 0.9), np.full(80, 0.9), np.full(80, 0.5))
        assert found.r is not None
        assert found.r.interval() is None


class TestBeyondChance:
    def test_by_hand(self) -> None:
        """3 of 4 right; gold shares 1/2 and 1/2, answers 3/4 and 1/4: 3/4 − 1/2."""
        found = beyond_chance(np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1]))
        assert found.accuracy == 0.75
        assert found.by_chance == 0.5
        assert found.value == 0.25

    def test_influence_is_that_of_a_small_weight(self) -> None:
        rng = np.random.default_rng(0)
        gold = rng.integers(3, size=200)
        answers = np.where(rng.random(200) < 0.6, gold, rng.integers(3, size=200))
        found = beyond_chance(gold, answers)
        again = np.append(gold, gold[0]), np.append(answers, answers[0])
        moved = beyond_chance(*again).value - found.value
        expected = found.deviations[0] / sqrt(200 / 199)
        assert moved == pytest.approx(expected, rel=0.02)

    @pytest.mark.parametrize("constant", [0, 1, 2, -1])
    def test_a_constant_answer_has_none(self, constant: int) -> None:
        gold = np.array([0] * 350 + [1] * 49 + [2])
        found = beyond_chance(gold, np.full(400, constant))
        assert found.value == pytest.approx(0)
        assert not found.is_shown

    def test_a_rare_label_vetoes_nothing(self) -> None:
        gold = np.array([0] * 344 + [1] * 49 + [2])
        found = beyond_chance(gold, gold)
        assert found.is_shown

    def test_few_examples_show_nothing(self) -> None:
        assert not beyond_chance(np.array([0, 1, 0, 1]), np.array([0, 1, 0, 1])).is_shown
        assert beyond_chance(np.tile([0, 1], 10), np.tile([0, 1], 10)).is_shown

    def test_copies_do_not_make_skill(self) -> None:
        gold = np.repeat([0, 1, 0, 1], 50)
        assert not beyond_chance(gold, gold, family=np.repeat(np.arange(4), 50)).is_shown

    def test_guessing_shows_skill_in_one_run_of_forty(self) -> None:
        rng = np.random.default_rng(0)
        shown = 0
        for _ in range(400):
            gold = rng.choice(3, p=[0.7, 0.2, 0.1], size=150)
            shown += beyond_chance(gold, rng.choice(3, p=[0.5, 0.3, 0.2], size=150)).is_shown
        assert shown <= 20

    def test_a_ratio_of_answers(self) -> None:
        """Right on all before; after, right on half and abstaining on half."""
        gold = np.tile([0, 1], 100)
        before = beyond_chance(gold, gold)
        after = beyond_chance(gold, np.where(np.arange(200) % 4 < 2, gold, -1))
        ratio = SkillRatio.of_answers(before, after)
        assert ratio.value == pytest.approx(0.5)
        bounds = ratio.interval()
        assert bounds is not None
        assert bounds[0] < 0.5 < bounds[1]


class TestBooking:
    GOLD = np.array([0] * 10 + [1] * 10 + [2])

    def test_labels_with_few_families_do_not_count(self) -> None:
        assert labels_that_count(self.GOLD).tolist() == [0, 1]
        family = np.array([0] * 7 + [1, 2, 3] + list(range(4, 15)))
        assert labels_that_count(self.GOLD, family).tolist() == [1]

    def test_no_label_that_counts_scores_chance(self) -> None:
        counted = np.array([0, 1])
        answers = np.array([0, 1, 2, -1])
        scores = skill_scores(np.array([0, 0, 0, 0]), answers, counted)
        assert scores.tolist() == [1, 0, 0.5, 0.5]

    def test_a_uniform_guess_over_more_labels_has_no_skill(self) -> None:
        rng = np.random.default_rng(0)
        gold = np.repeat([0, 1], 5000)
        scores = skill_scores(gold, rng.integers(3, size=10_000), np.array([0, 1]))
        assert scores.mean() - 0.5 == pytest.approx(0, abs=0.02)

    def test_a_bag_that_declines_keeps_what_it_answers(self) -> None:
        """It answers 30 of 100 perturbed texts as before, and no other."""
        gold = np.tile([0, 1], 100)
        answers = np.where(np.arange(200) % 20 < 6, gold, -1)[:, None]
        after = skill_scores(gold, answers, np.array([0, 1])).mean(axis=1)
        assert three_ratios(gold, np.ones(200), after).t.value == pytest.approx(0.3)

    def test_labels_left_out_are_listed(self) -> None:
        after = np.stack([self.GOLD, np.zeros(21, dtype=np.int64)], axis=1)
        [found] = left_out_labels(
            self.GOLD, np.array([0, 1]), self.GOLD, after, np.ones((21, 2), dtype=bool)
        )
        assert (found.label, found.n, found.right_before, found.right_after) == (2, 1, 1, 0.5)

    def test_labels_that_hold_less_than_half_are_too_little(self) -> None:
        gold = np.repeat(np.arange(30), 3)
        assert hold_too_little(gold, labels_that_count(gold))
        assert not hold_too_little(self.GOLD, np.array([0, 1]))

    def test_failures_at_both_extremes(self) -> None:
        gold = np.array([0, 1])
        answers = np.array([[0, 1, 0], [1, 1, 1]])
        is_answered = np.array([[True, False, True], [False, False, False]])
        scores = skill_scores(gold, answers, np.array([0, 1]))
        answered, worst, best = variant_scores(scores, is_answered, np.array([1, 2]), 0.5)
        assert answered.tolist() == [1, 0.5]
        assert worst == pytest.approx([2 / 3, 0])
        assert best.tolist() == [1, 1]

    def test_few_failures_are_left_out(self) -> None:
        n_failed = np.array([1, *[0] * 150])
        assert len(variant_scores(np.ones((151, 1)), np.ones((151, 1), bool), n_failed, 0.5)) == 1


class TestLooks:
    def test_twenty_looks_share_the_error(self) -> None:
        looks = planned_looks(4000)
        assert len(looks) == 20
        assert [look.n_examples for look in looks][::19] == [200, 4000]
        early = [2 * norm.sf(look.z) for look in looks[:-1]]
        assert sum(early) == pytest.approx(0.01)
        assert 2 * norm.sf(looks[-1].z) == pytest.approx(0.04)
        assert [look.is_last for look in looks] == [False] * 19 + [True]

    def test_sizes_grow_by_one_factor(self) -> None:
        sizes = np.array([look.n_examples for look in planned_looks(100_000)])
        assert np.diff(np.log(sizes)) == pytest.approx(np.log(500) / 19, abs=0.01)

    def test_a_small_sample_is_looked_at_once_at_the_usual_level(self) -> None:
        [look] = planned_looks(150)
        assert (look.n_examples, look.is_last) == (150, True)
        assert look.z == pytest.approx(norm.ppf(0.975))

    def test_all_looks_hold_together(self) -> None:
        rng = np.random.default_rng(0)
        looks = planned_looks(2000)
        missed = 0
        for _ in range(300):
            values = rng.normal(size=2000)
            means = [values[: look.n_examples].mean() for look in looks]
            missed += any(
                abs(mean) > look.z / sqrt(look.n_examples)
                for mean, look in zip(means, looks, strict=True)
            )
        assert missed <= 0.05 * 300 + 2.3 * sqrt(300 * 0.05 * 0.95)


class TestVariantsNeeded:
    @pytest.mark.parametrize(("ratio", "q"), [(0, 5), (0.5, 5), (0.68, 7), (1.0, 10), (3, 10)])
    def test_where_every_example_is_used(self, ratio: float, q: int) -> None:
        assert variants_needed(ratio, is_plentiful=False) == q

    @pytest.mark.parametrize(("ratio", "q"), [(0, 2), (2, 2), (4.5, 3), (8, 4), (50, 5)])
    def test_where_examples_are_plentiful(self, ratio: float, q: int) -> None:
        assert variants_needed(ratio, is_plentiful=True) == q

    def test_the_ratio_by_hand(self) -> None:
        """Means over two variants are 1, 1/2, 0 and 1/2: half of a variance of 1/2 within two of
        four, so 1/4 within, and 1/6 − 1/8 between.
        """
        after = np.array([[1.0, 1.0], [1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
        found = variance_ratio(np.zeros(4, dtype=np.int64), np.zeros(4), after, 0.0)
        assert found == pytest.approx((1 / 4) / (1 / 6 - 1 / 8))

    def test_a_bag_of_words_needs_no_more(self) -> None:
        before = np.tile([1.0, 0.0], 20)
        after = np.repeat(before[:, None], 5, axis=1)
        assert variance_ratio(np.tile([0, 1], 20), before, after, 1.0) == 0

    def test_it_is_found_from_a_first_block(self) -> None:
        rng = np.random.default_rng(0)
        label = np.tile([0, 1], 2000)
        share = np.clip(rng.normal(0.5, 0.2, size=4000), 0, 1)
        after = (rng.random((4000, 5)) < share[:, None]).astype(float)
        within = float((share * (1 - share)).mean())
        found = variance_ratio(label, np.zeros(4000), after, 0.0)
        assert found == pytest.approx(within / share.var(), rel=0.15)

    def test_families_lower_it(self) -> None:
        rng = np.random.default_rng(0)
        family = np.repeat(np.arange(400), 10)
        share = np.repeat(rng.random(400), 10)
        after = (rng.random((4000, 5)) < share[:, None]).astype(float)
        label = np.zeros(4000, dtype=np.int64)
        alone = variance_ratio(label, np.zeros(4000), after, 0.0)
        assert variance_ratio(label, np.zeros(4000), after, 0.0, family) < alone / 5

    def test_a_missing_variant_is_not_counted(self) -> None:
        after = np.array([[1.0, np.nan], [0.0, 1.0], [0.0, 0.0], [1.0, 1.0]])
        assert np.isfinite(variance_ratio(np.zeros(4, dtype=np.int64), np.zeros(4), after, 0.0))


class TestCrossed:
    def test_the_ledger_by_hand(self) -> None:
        """Rows 0 and 1 alike in all prompts but for a shift: no residual."""
        values = np.array([[0.0, 1.0, 2.0], [1.0, 2.0, 3.0]])
        parts = variance_ledger(values)
        assert parts.questions == pytest.approx(0.5 / 2)
        assert parts.prompts == pytest.approx(1 / 3)
        assert parts.residual == pytest.approx(0)
        found = crossed_mean(values)
        freedom = int((7 / 12) ** 2 / ((1 / 4) ** 2 + (1 / 3) ** 2 / 2))
        assert found.high - 1.5 == pytest.approx(
            student_t.ppf(0.975, freedom) * sqrt(7 / 12), rel=0.01
        )

    def test_two_prompts_have_no_interval(self) -> None:
        with pytest.raises(NothingToMeasure):
            crossed_mean(np.zeros((10, 2)))

    @pytest.mark.parametrize("n_prompts", [3, 5])
    def test_it_covers_with_few_prompts(self, n_prompts: int) -> None:
        rng = np.random.default_rng(0)
        covered = []
        for _ in range(300):
            prompts = rng.normal(0, 0.1, size=n_prompts)
            questions = rng.normal(0, 0.3, size=(100, 1))
            found = crossed_mean(questions + prompts + rng.normal(0, 0.3, size=(100, n_prompts)))
            covered.append(found.low <= 0 <= found.high)
        assert np.mean(covered) >= 0.93


class TestNoiseFloor:
    def test_few_texts_are_repeated_and_at_least_fifteen(self) -> None:
        """Of originals, and as many of variants: two percent of the examples, at least thirty."""
        rng = np.random.default_rng(0)
        assert len(repeated_texts(10_000, rng)) == 100
        assert len(repeated_texts(500, rng)) == 15
        assert sorted(repeated_texts(12, rng).tolist()) == list(range(12))

    def test_they_come_in_another_order(self) -> None:
        found = repeated_texts(500, np.random.default_rng(0))
        assert found.tolist() != sorted(found.tolist())

    def test_the_share_that_changes(self) -> None:
        found = noise_floor(np.array([0, 1, 1, -1]), np.array([0, 1, 0, 1]))
        assert found.value == 0.5

    def test_no_text_has_no_floor(self) -> None:
        with pytest.raises(NothingToMeasure):
            noise_floor(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))
