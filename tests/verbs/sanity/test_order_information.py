"""What order alone decides, the bits that it carries, and the words around them: known answers."""

from __future__ import annotations

import numpy as np
import pytest
from made_data import Row, row, some

import disorder
from disorder.types import Example
from disorder.verbs.sanity import Sanity
from disorder.verbs.sanity.checks.bag_identical import same_words
from disorder.verbs.sanity.scoring import clustered_mean


def before_and_after(n: int, seed: int = 0) -> list[Row]:
    """Which of two words comes first is the label; each pair of rows has the same words."""
    rng = np.random.default_rng(seed)
    made = []
    for i in range(0, n, 2):
        words = some(rng, 5)
        for j, (first, second) in enumerate((("up", "down"), ("down", "up"))):
            text = [*words[:2], first, second, *words[2:]]
            made.append(row(i + j, text, None, ("rises", "falls")[j]))
    return made


def one_mark(n: int, seed: int = 1) -> list[Row]:
    """One of two words is the label, wherever it stands."""
    rng = np.random.default_rng(seed)
    made = []
    for i in range(n):
        words = [*some(rng, 6), ("good", "bad")[i % 2]]
        rng.shuffle(words)
        made.append(row(i, words, None, ("pos", "neg")[i % 2]))
    return made


def checked(rows: list[Row], *checks: str, **more: object) -> Sanity:
    return disorder.sanity(rows, check=checks, seed=0, **more)


def example(name: str, text: str, label: str, second: str | None = None) -> Example:
    return Example.of(name, text, second, label)


def test_groups_have_the_same_words_in_another_order_and_another_label() -> None:
    rows = [
        example("0", "The dog bit the man.", "a"),
        example("1", "the man bit the dog", "b"),
        example("2", "the man bit the dog", "a"),  # of the group: its order is another's
        example("3", "the cat bit the man", "b"),
        example("4", "one word here", "a"),
        example("5", "one word here", "b"),  # another label, the same order: a conflict
        example("6", "red green blue", "a"),
        example("7", "blue green red", "a"),  # the same label
        example("8", "the dog bit man", "b"),  # one word fewer
    ]
    assert same_words(rows) == [[0, 1, 2]]
    later = [example("0", "x y", "a"), example("1", "x y", "b"), example("2", "y x", "a")]
    assert same_words(later) == [[0, 1, 2]]  # the last two differ in both
    pairs = [
        example("0", "x y", "a", "p q"),
        example("1", "x y", "b", "q p"),
        example("2", "y x", "b", "p r"),
    ]
    assert same_words(pairs) == [[0, 1]]


def test_a_bag_of_words_gets_no_group_right_and_a_reader_does() -> None:
    found = checked(before_and_after(400), "bag_identical")
    verdict = found.verdict("order alone")
    assert verdict.answer == "needed"
    assert "200 groups of rows (400 of 400 rows)" in verdict.because
    assert verdict.score is not None
    assert verdict.score.low > 0.8
    [table] = found.tables
    assert len(table.rows) == 100
    assert table.rows[0]["same_as_written"] is True
    nothing = checked(one_mark(100), "bag_identical").verdict("order alone")
    assert (nothing.answer, nothing.score) == ("none found", None)


def test_bits_that_shuffling_destroys() -> None:
    needs = checked(before_and_after(600), "usable_information")
    verdict = needs.verdict("usable information")
    assert verdict.answer == "order adds"
    assert verdict.score is not None
    assert 0.6 < verdict.score.low < verdict.score.value < 1.1  # of one bit
    [table] = needs.tables
    assert table.name == "rows_that_need_order"
    assert all(each["lost"] > 0 for each in table.rows)
    words = checked(one_mark(600), "usable_information").verdict("usable information")
    assert words.answer == "order adds nothing"
    assert "bits per row" in words.because


def test_random_labels_have_no_bits() -> None:
    rng = np.random.default_rng(5)
    rows = [each | {"label": str(rng.choice(["x", "y"]))} for each in one_mark(400)]
    found = checked(rows, "usable_information")
    verdict = found.verdict("usable information")
    assert verdict.answer in ("order adds nothing", "undecided")
    known = next(each for each in found.records if each["transformation"] == "original")
    assert known["low"] < 0.02


def test_labels_that_were_flipped_are_worth_a_look() -> None:
    rows = one_mark(600)
    flipped = {17, 230, 401}
    for i in flipped:
        rows[i] = rows[i] | {"label": {"pos": "neg", "neg": "pos"}[rows[i]["label"]]}
    found = checked(rows, "usable_information")
    table = next(each for each in found.tables if each.name == "labels_worth_a_look")
    assert {each["id"] for each in table.rows} == {f"r{i:05d}" for i in flipped}
    assert all(each["bits"] < -1 for each in table.rows)


def test_numbers_have_no_bits() -> None:
    rows = [each | {"label": i / 7} for i, each in enumerate(one_mark(80))]
    with pytest.raises(disorder.DisorderError, match="bits are those of labels"):
        checked(rows, "usable_information")


def test_the_mean_over_clusters() -> None:
    values = np.array([0.0, 0.0, 2.0, 2.0])
    found = clustered_mean(values, np.array([0, 0, 1, 1]))
    # two clusters with means 0 and 2: t(1) = 12.706, standard error 1
    assert (found.value, found.n) == (1, 4)
    assert found.high == pytest.approx(1 + 12.706, abs=0.01)


def test_the_headline_says_how_far_the_model_got() -> None:
    found = checked(one_mark(600), "order")
    reached = found.verdict("order").original
    assert reached is not None
    assert found.headline == (
        f"Order: not needed to reach {reached.value:.3f}, chance 0.500, with a linear model"
    )
    needs = checked(before_and_after(400), "order")
    assert needs.headline.startswith("Order: needed (a linear model reaches ")


def test_one_verdict_at_the_end_and_what_to_fix_first() -> None:
    rows = one_mark(300)
    twice = [each | {"id": f"again {i}"} for i, each in enumerate(rows[:40])]
    twice = [each | {"text_a": each["text_a"].upper()} for each in twice]
    found = checked([*rows, *twice], "order", "duplicates", "words")
    assert found.overall.startswith("Overall: ")
    assert found.overall.endswith("Fix first: drop the rows that repeat another.")
    assert found.weaknesses[0].question == "duplicates"
    data = found.result.as_data()
    assert data["overall"] == found.overall
    assert data["fix"][0] == {"question": "duplicates", "fix": "drop the rows that repeat another"}
    clean = checked(before_and_after(400), "order")
    assert clean.overall == "Overall: no weakness was found; needed: order."
