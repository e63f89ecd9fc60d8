"""The table of kinds: every row, its order, scope, caveats, and truths beside each limit."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from disorder.metrics import SkillRatio
from disorder.metrics.statistics.skill import ThreeRatios, three_ratios
from disorder.metrics.statistics.skill_ratio import beyond_chance
from disorder.results.conclusion import NAMES
from disorder.types import Floats, Ints, Score
from disorder.verbs.audit.order_kinds import (
    Facts,
    KindLimits,
    conclude_at_extremes,
    conclude_kind,
)

LIMITS = KindLimits()
FACTS = Facts(
    n_gold_labels=2,
    n_answers=2,
    n_others=100,
    skill=Score(0.4, 0.3, 0.5, 200),
    perfect=0.5,
    n_families=200.0,
)


def ratio(low: float, high: float) -> SkillRatio:
    """A ratio with this interval: a skill before that is known, and one after that is not."""
    half = (high - low) / 2
    deviations = np.array([[half / 1.959963984540054, 0.0]])
    return SkillRatio(
        (low + high) / 2, 1.0, deviations, np.zeros((2, 2)), 10**9, 0.5, "balanced accuracy"
    )


NONE = SkillRatio(0.1, 0.1, np.array([[0.0, 1.0]]), np.zeros((2, 2)), 10**9, 0.5, "accuracy")


def kind(
    t: tuple[float, float] | None,
    s: tuple[float, float] | None = None,
    r: tuple[float, float] | None = None,
    facts: Facts = FACTS,
) -> str:
    parts = [NONE if each is None else ratio(*each) for each in (t, s, r)]
    has_control = s is not None or r is not None
    ratios = ThreeRatios(*parts) if has_control else ThreeRatios(parts[0])
    return conclude_kind(ratios, facts, LIMITS).kind


FULL = (0.95, 1.05)
WIDE = (0.1, 0.9)


@pytest.mark.parametrize(
    ("t", "s", "r", "expected"),
    [
        ((1.21, 1.6), FULL, (1.21, 1.6), "misled_by_order"),
        ((0.85, 1.1), FULL, (0.85, 1.1), "bag_of_words"),
        ((0.85, 1.3), FULL, (0.85, 1.3), "bag_or_misled"),
        # a bag with its evidence in the last word loses it in the control
        ((0.9, 1.1), (-0.1, 0.1), None, "bag_of_words"),
        ((0.1, 0.4), (0.1, 0.4), (0.7, 1.3), "surface"),
        ((-0.1, 0.1), (-0.1, 0.1), None, "surface"),
        # lost in part before a word moved, and the rest by order
        ((0.0, 0.1), (0.5, 0.7), (0.0, 0.15), "reads_order"),
        ((-0.1, 0.15), FULL, (-0.1, 0.15), "reads_order"),
        ((-0.5, -0.2), FULL, (-0.5, -0.2), "reads_order"),
        ((0.5, 0.85), (0.6, 0.9), (0.82, 1.1), "bag_of_words"),
        ((0.5, 0.85), (0.6, 0.9), (0.82, 1.4), "bag_or_misled"),
        ((0.3, 0.7), FULL, (0.3, 0.7), "mixed"),
        ((0.3, 0.9), FULL, (0.3, 0.9), "mixed_or_bag"),
        ((0.1, 0.7), FULL, (0.1, 0.7), "reads_or_mixed"),
        (WIDE, FULL, WIDE, "undecided"),
        (None, None, None, "undecided"),
        ((0.3, 0.7), WIDE, None, "undecided"),
    ],
)
def test_every_row_of_the_table(t: Any, s: Any, r: Any, expected: str) -> None:
    assert kind(t, s, r) == expected


@pytest.mark.parametrize(
    ("t", "expected"),
    [
        ((-0.1, 0.199), "reads_order"),
        ((0.21, 0.79), "mixed"),
        ((0.801, 1.199), "bag_of_words"),
        ((0.21, 1.1), "mixed_or_bag"),
        ((0.0, 0.79), "reads_or_mixed"),
        ((0.0, 1.0), "undecided"),
        ((1.25, 1.5), "misled_by_order"),
    ],
)
def test_without_a_control_the_first_ratio_decides(t: tuple[float, float], expected: str) -> None:
    found = conclude_kind(ThreeRatios(ratio(*t)), replace(FACTS, has_control=False), LIMITS)
    assert found.kind == expected
    assert "no_surface_control" in found.caveats


class TestBeforeTheRatios:
    def test_one_gold_label(self) -> None:
        assert kind(FULL, facts=replace(FACTS, n_gold_labels=1)) == "one_gold_label"

    def test_one_answer(self) -> None:
        assert kind(FULL, facts=replace(FACTS, n_answers=1)) == "one_label"
        assert kind(FULL, facts=replace(FACTS, n_answers=1, n_others=4)) == "bag_of_words"

    def test_no_skill_and_perhaps_some(self) -> None:
        assert kind(FULL, facts=replace(FACTS, skill=Score(0, -0.02, 0.02, 900))) == "no_skill"
        assert kind(FULL, facts=replace(FACTS, skill=Score(0.1, -0.2, 0.4, 9))) == "undecided"

    def test_too_few_families(self) -> None:
        assert kind(FULL, facts=replace(FACTS, n_families=4.9)) == "undecided"
        assert kind(FULL, facts=replace(FACTS, n_families=5)) == "bag_of_words"

    def test_a_model_that_reads_the_beginning_only_has_no_kind(self) -> None:
        assert kind((0.3, 0.7), facts=replace(FACTS, reads_beginning_only=True)) == "undecided"


class TestScope:
    def test_with_a_text_unmoved_it_is_no_bag_of_words(self) -> None:
        facts = replace(FACTS, is_all_moved=False)
        assert kind(FULL, FULL, FULL, facts) == "order_not_used"
        assert kind((0.0, 0.1), FULL, (0.0, 0.1), facts) == "reads_order"


class TestCaveats:
    @pytest.mark.parametrize(
        ("changes", "caveat"),
        [
            ({"n_families": 19.0}, "templated"),
            ({"largest_family": 0.06}, "templated"),
            ({"reads_beginning_only": True}, "truncated"),
            ({"noise": Score(0.1, 0.05, 0.2, 60)}, "changes_by_itself"),
            ({"has_control": False}, "no_surface_control"),
            ({"n_rare_labels": 1}, "rare_labels"),
            ({"answered_less": Score(0.7, 0.6, 0.8, 100)}, "declines"),
            ({"has_many_failures": True}, "failures"),
        ],
    )
    def test_each_fact_has_its_caveat(self, changes: dict[str, Any], caveat: str) -> None:
        ratios = ThreeRatios(ratio(*FULL))
        assert conclude_kind(ratios, FACTS, LIMITS).caveats == ()
        assert conclude_kind(ratios, replace(FACTS, **changes), LIMITS).caveats == (caveat,)

    def test_small_changes_have_none(self) -> None:
        facts = replace(
            FACTS,
            noise=Score(0.0, 0.0, 0.05, 60),
            answered_less=Score(0.04, 0.01, 0.07, 1000),
            largest_family=0.05,
        )
        assert conclude_kind(ThreeRatios(ratio(*FULL)), facts, LIMITS).caveats == ()

    def test_below_nought_it_takes_the_new_order_at_its_word(self) -> None:
        found = conclude_kind(ThreeRatios(ratio(-0.4, -0.1)), FACTS, LIMITS)
        assert (found.kind, found.caveats) == ("reads_order", ("takes_new_order",))


class TestExtremes:
    def test_a_kind_must_hold_whatever_failed(self) -> None:
        bag, mixed = ThreeRatios(ratio(*FULL)), ThreeRatios(ratio(0.4, 0.6))
        assert conclude_at_extremes([bag, bag, bag], FACTS, LIMITS).kind == "bag_of_words"
        assert conclude_at_extremes([bag, mixed, bag], FACTS, LIMITS).kind == "undecided"


def test_every_kind_has_words() -> None:
    kinds = {
        *("one_gold_label", "one_label", "no_skill", "misled_by_order", "bag_of_words"),
        *("bag_or_misled", "surface", "reads_order", "mixed", "mixed_or_bag", "reads_or_mixed"),
        *("undecided", "order_not_used"),
    }
    assert set(NAMES) == kinds


def sample(
    truth: float, n: int, copies: int, rng: np.random.Generator
) -> tuple[Ints, Floats, Floats, Ints, Ints]:
    """Gold, scores before and after, family, answers: of a model that keeps this much skill."""
    n_units = n // copies
    family = np.repeat(np.arange(n_units), copies)
    gold = np.repeat(np.arange(n_units) % 2, copies)
    answers = np.where(np.repeat(rng.random(n_units) < 0.8, copies), gold, 1 - gold)
    before = (answers == gold).astype(float)
    # 0.3 of skill before; after it is the truth's part of that
    after = rng.binomial(10, 0.5 + 0.3 * truth, size=n) / 10
    return gold, before, after, family, answers


ALLOWED = {
    0.19: {"reads_order", "reads_or_mixed", "undecided"},
    0.21: {"mixed", "mixed_or_bag", "reads_or_mixed", "undecided"},
    0.79: {"mixed", "mixed_or_bag", "reads_or_mixed", "undecided"},
    0.81: {"bag_of_words", "bag_or_misled", "mixed_or_bag", "undecided"},
    # mixed_or_bag says that skill is kept, and not how much at most
    1.19: {"bag_of_words", "bag_or_misled", "mixed_or_bag", "undecided"},
    1.21: {"misled_by_order", "bag_or_misled", "mixed_or_bag", "undecided"},
}


@pytest.mark.parametrize(("n", "copies"), [(150, 1), (300, 1), (300, 3), (1000, 1)])
@pytest.mark.parametrize("truth", ALLOWED)
def test_truths_beside_a_limit_are_hardly_ever_called_the_other_kind(
    truth: float, n: int, copies: int
) -> None:
    rng = np.random.default_rng(0)
    found: Counter[str] = Counter()
    for _ in range(200):
        gold, before, after, family, answers = sample(truth, n, copies, rng)
        skill = beyond_chance(gold, answers, family=family)
        ratios = three_ratios(gold, before, after, before, family)
        facts = replace(FACTS, skill=skill.score(), n_families=n / copies)
        found[conclude_kind(ratios, facts, LIMITS).kind] += 1
    wrong = sum(times for kind, times in found.items() if kind not in ALLOWED[truth])
    assert wrong <= 10, found
