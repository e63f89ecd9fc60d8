"""Ω, P_c, P_f and entropy of UnNatural Language Inference, worked by hand."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import log

import numpy as np
import pytest

from conftest import outcomes
from disorder.errors import BadSetting, NothingToMeasure
from disorder.metrics import measure, references, scores
from disorder.types import Outcomes

p_c = partial(measure, "p_c")
p_f = partial(measure, "p_f")
accuracy = partial(measure, "accuracy")
accuracy_used = partial(measure, "accuracy_used")
entropy_c = partial(measure, "entropy_c")
entropy_f = partial(measure, "entropy_f")
omega_all = partial(measure, "omega_all")
omega_max = partial(measure, "omega_max")
omega_rand = partial(measure, "omega_rand")

# Figure 1's setting: six examples, three first answered right (gold 0, answer 0) and three wrong
# (gold 0, answer 1),
# with n = 6 permutations each. A permutation is accepted when it gets label 0.
#                  accepted   s
FIGURE_1 = [
    [0, 0, 0, 0, 0, 0],  # 6   1     right
    [0, 1, 0, 2, 0, 1],  # 3   1/2   right
    [1, 1, 2, 2, 1, 1],  # 0   0     right
    [0, 1, 1, 0, 1, 2],  # 2   1/3   wrong
    [2, 2, 1, 1, 2, 2],  # 0   0     wrong
    [0, 0, 0, 1, 0, 0],  # 5   5/6   wrong
]


def figure_1(**more: object) -> Outcomes:
    return outcomes([0] * 6, [0, 0, 0, 1, 1, 1], FIGURE_1, **more)  # type: ignore[arg-type]


def accepting(
    k: int, q: int = 100, *, labels: tuple[str, ...] = ("x", "y", "z"), **more: object
) -> Outcomes:
    """One example, k of whose q permutations get the gold label."""
    return outcomes([0], [0], [[0] * k + [1] * (q - k)], labels=labels, **more)  # type: ignore[arg-type]


class TestFigure1:
    def test_omega(self) -> None:
        assert omega_max(figure_1()).value == 4 / 6  # rows 1, 2, 4, 6 have at least one
        assert (
            omega_rand(figure_1()).value == 3 / 6
        )  # rows 1, 2, 6: row 4 has just 1/3, which is not more
        assert omega_all(figure_1()).value == 1 / 6  # row 1
        assert measure("omega@0.5", figure_1()).value == 2 / 6  # rows 1, 6: row 2 has just 1/2
        assert measure("omega@0", figure_1()).value == omega_max(figure_1()).value
        assert (
            measure("omega@1", figure_1()).value == 0
        )  # no share exceeds 1: the papers' Ω_1.0 is omega_all

    def test_acceptance(self) -> None:
        assert p_c(figure_1()).value == pytest.approx((1 + 1 / 2 + 0) / 3)
        assert p_c(figure_1()).n == 3
        assert p_f(figure_1()).value == pytest.approx(
            (1 / 3 + 5 / 6) / 2
        )  # row 5 was never flipped
        assert p_f(figure_1()).n == 2

    def test_accuracy(self) -> None:
        assert accuracy_used(figure_1()).value == 3 / 6
        assert accuracy(figure_1()).value == pytest.approx((1 + 1 / 2 + 0 + 1 / 3 + 0 + 5 / 6) / 6)

    def test_released_leaves_out_right_answers_that_no_permutation_keeps(self) -> None:
        released = figure_1(fidelity="released")
        assert p_c(released).value == pytest.approx((1 + 1 / 2) / 2)
        assert p_c(released).n == 2
        assert p_f(released).value == p_f(figure_1()).value

    def test_missing_permutations_are_not_counted(self) -> None:
        """An example with two permutations, one accepted, beside one with four, one accepted."""
        short = outcomes([0, 0], [0, 0], [[0, 1, -1, -1], [0, 1, 1, 1]])
        assert short.n_variants.tolist() == [2, 4]
        assert p_c(short).value == pytest.approx((1 / 2 + 1 / 4) / 2)
        assert omega_rand(short).value == 1 / 2
        assert omega_all(outcomes([0], [0], [[0, 0, -1]])).value == 1


@pytest.mark.parametrize(("k", "expected"), [(33, 0), (34, 1), (35, 1)])
@pytest.mark.parametrize("fidelity", ["paper", "released"])
def test_omega_rand_starts_at_34_of_100(k: int, expected: int, fidelity: str) -> None:
    """UNLU's random_eval.py compares with 1/3, as section 4 of the paper says."""
    assert omega_rand(accepting(k, fidelity=fidelity)).value == expected


@pytest.mark.parametrize(("k", "expected"), [(50, 0), (51, 1)])
@pytest.mark.parametrize("fidelity", ["paper", "released"])
def test_chance_is_a_half_for_two_labels_in_both(k: int, expected: int, fidelity: str) -> None:
    assert omega_rand(accepting(k, labels=("x", "y"), fidelity=fidelity)).value == expected


@pytest.mark.parametrize(
    ("x", "k", "expected"), [("0.34", 34, 0), ("0.34", 35, 1), ("0.1", 10, 0), ("0.29", 29, 0)]
)
def test_thresholds_are_compared_as_fractions(x: str, k: int, expected: int) -> None:
    assert measure(f"omega@{x}", accepting(k)).value == expected


@pytest.mark.parametrize("x", ["half", "1.1", "-0.1", "nan", "1/0"])
def test_a_threshold_is_a_share(x: str) -> None:
    with pytest.raises(BadSetting, match="omega: x="):
        measure(f"omega@{x}", accepting(1))


def test_nothing_right_and_nothing_flipped_have_no_acceptance() -> None:
    with pytest.raises(NothingToMeasure, match="no example was predicted right"):
        p_c(outcomes([0], [1], [[0, 0]]))
    with pytest.raises(NothingToMeasure, match="flipped"):
        p_f(outcomes([0, 0], [1, 0], [[1, 1], [0, 0]]))


def entropy(*p: float) -> float:
    return -sum(x * log(x) for x in p)


def test_entropy_is_in_nats_over_accepted_permutations() -> None:
    """Example 1 (right) has two accepted permutations, example 2 (wrong) one; the rejected ones do
    not count.
    """
    answers = np.array(
        [
            [[0.5, 0.25, 0.25], [0.8, 0.1, 0.1], [0.1, 0.8, 0.1]],
            [[0.2, 0.7, 0.1], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
        ]
    )
    given = replace(outcomes([0, 0], [0, 1], [[0] * 3, [0] * 3]), predictions=answers)
    assert entropy_c(given).value == pytest.approx(
        (entropy(0.5, 0.25, 0.25) + entropy(0.8, 0.1, 0.1)) / 2
    )
    assert entropy_f(given).value == pytest.approx(0)
    assert entropy(1 / 3, 1 / 3, 1 / 3) == pytest.approx(log(3))


class TestReferenceModels:
    def test_a_bag_of_words_never_changes_its_answer(self) -> None:
        bag = dict(references(figure_1()))["C: bag of words"]
        assert p_c(bag).value == 1
        assert omega_max(bag).value == omega_all(bag).value == accuracy_used(bag).value == 1 / 2
        with pytest.raises(NothingToMeasure):
            p_f(bag)

    def test_the_one_that_rejects_is_right_on_the_reject_label_alone(self) -> None:
        given = outcomes([0, 1, 2, 1], [0, 0, 0, 0], [[0, 0]] * 4)
        assert omega_max(dict(references(given))["A: rejects"]).value == 2 / 4

    def test_the_one_that_guesses_depends_on_the_example_and_not_on_its_place(self) -> None:
        given = outcomes([0] * 6, [0] * 6, [[0] * 40] * 6)
        turned = given.take(np.arange(6)[::-1])
        guesses = dict(references(given))["B: guesses"].label
        assert (dict(references(turned))["B: guesses"].label == guesses[::-1]).all()
        assert set(np.unique(guesses)) == {0, 1, 2}

    def test_missing_variants_stay_missing(self) -> None:
        given = outcomes([0, 0], [0, 0], [[0, -1], [0, 1]])
        for reference in dict(references(given)).values():
            assert reference.n_variants.tolist() == [1, 2]


def test_scores_gives_what_applies_and_says_what_does_not() -> None:
    found = dict(scores(outcomes([0, 0], [0, 0], [[0, 0], [0, 0]])))
    assert found["p_f"] == "no wrong prediction was flipped by a permutation"
    assert {
        "omega_max",
        "omega_rand",
        "omega_all",
        "p_c",
        "wos",
        "agreement",
        "confidence",
        "omega@0.5",
    } <= set(found)
    assert "spearman" not in found
    single = dict(scores(outcomes([0, 0], [0, 0], [[0], [0]])))
    assert "omega_max" not in single
    assert "agreement" in single
    assert "wos" not in dict(scores(outcomes([0], [0], [[0]]), keeps_words=False))
    whole = dict(scores(outcomes([0], [0], [[0]], transformation="original"), keeps_words=False))
    assert set(whole) == {"accuracy", "confidence", "ece"}
