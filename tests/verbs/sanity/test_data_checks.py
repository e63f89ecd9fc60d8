"""Checks without a model: planted label words, duplicates and leaks are found exactly."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from disorder.data.word_hashes import N_BANDS
from disorder.errors import NothingToMeasure
from disorder.metrics.statistics.intervals import wilson
from disorder.types import Dataset, Example, Task
from disorder.verbs.sanity import CheckInput, CheckResult, VerdictRule
from disorder.verbs.sanity.checks.duplicates import duplicates as duplicates_check
from disorder.verbs.sanity.checks.duplicates import matches, row_similarity
from disorder.verbs.sanity.checks.words import words as words_check
from disorder.verbs.sanity.verdicts import joint_z

TASK = Task("toy", ("no", "yes"), "b")
NAMES = [f"{a}{b}{c}" for a in "bdfglmnprst" for b in "aeiou" for c in "bdklmnrt"]


def sentence(rng: np.random.Generator, n: int = 12) -> str:
    return " ".join(rng.choice(NAMES, size=n)) + "."


def rows(n: int, seed: int = 0) -> list[Example]:
    rng = np.random.default_rng(seed)
    return [
        Example.of(f"{seed}-{i}", sentence(rng), sentence(rng), TASK.labels[i % 2])
        for i in range(n)
    ]


def words(examples: Sequence[Example], task: Task = TASK) -> CheckResult:
    return words_check(CheckInput(Dataset("d", task, examples), None, VerdictRule()))


def duplicates(data: Dataset, train: Dataset | None) -> CheckResult:
    return duplicates_check(CheckInput(data, train, VerdictRule()))


def with_texts(
    example: Example, name: str, a: str, b: str | None, label: str | None = None
) -> Example:
    return Example.of(name, a, b, label or example.label)


def test_a_planted_word_is_found_at_the_top() -> None:
    examples = [
        Example.of(
            e.id,
            e.text_a,
            f"{e.text_b} zyzzyva" if e.label == "yes" and i % 3 == 0 else e.text_b,
            e.label,
        )
        for i, e in enumerate(rows(600))
    ]
    found = words(examples)
    top = found.tables[0].rows[0]
    assert (top["word"], top["text"], top["label"], top["share"]) == (
        "zyzzyva",
        "text_b",
        "yes",
        1.0,
    )
    assert (
        0 < top["low"] <= top["pmi"] <= top["high"] <= 1.0
    )  # one bit is all that a label of two can tell
    assert found.verdicts[0].answer == "found"
    assert "'zyzzyva' in text_b" in found.verdicts[0].because


def test_chance_gives_no_word_away() -> None:
    found = words(rows(2000))
    assert found.verdicts[0].answer == "none found"
    assert not found.tables[0].rows


def test_a_premise_with_every_label_gives_none_away() -> None:
    """Three rows per premise, one per label: each word of it stands with all labels alike."""
    rng = np.random.default_rng(0)
    task = Task("toy", ("no", "maybe", "yes"), "b")
    examples = [
        Example.of(f"{p}-{label}", premise, sentence(rng, 6), label)
        for p, premise in enumerate(f"and {sentence(rng, 5)}" for _ in range(200))
        for label in task.labels
    ]
    examples += [Example.of(f"s{i}", sentence(rng), sentence(rng), "no") for i in range(200)]
    found = words(examples, task)
    assert [row for row in found.tables[0].rows if row["word"] == "and"] == []
    assert all(row["label"] == "no" for row in found.tables[0].rows)


def test_rows_that_share_most_words_count_once() -> None:
    """A story told in twenty rows of one label is one story."""
    examples = rows(600)
    story = sentence(np.random.default_rng(9), 14)
    for k in range(20):
        told = " ".join(np.random.default_rng(k).permutation(story.rstrip(".").split()))
        examples.append(Example.of(f"t{k}", told, sentence(np.random.default_rng(50 + k)), "yes"))
    assert words(examples).verdicts[0].answer == "none found"


def test_equal_words_are_listed_in_the_order_of_labels() -> None:
    task = Task("toy", ("zebra", "ant"), "b")
    rng = np.random.default_rng(0)
    examples = [
        Example.of(str(i), f"{sentence(rng)} {('left', 'right')[i % 2]}", None, task.labels[i % 2])
        for i in range(400)
    ]
    found = words(examples, task)
    listed = [(row["word"], row["label"]) for row in found.tables[0].rows]
    assert listed == [("left", "zebra"), ("right", "ant")]


def test_label_words_that_tell_as_much_come_in_a_fixed_order() -> None:
    """By the word, not by an order of sets or by hashes that differ from process to process."""
    rng = np.random.default_rng(0)
    task = Task("toy", tuple("fbdace"), "b")
    marks = [f"mark{i}" for i in range(len(task.labels))]
    examples = [
        Example.of(f"{label}-{i}", sentence(rng), f"{mark} {sentence(rng, 4)}", label)
        for i in range(40)
        for label, mark in zip(task.labels, marks, strict=True)
    ]
    [table] = words(examples, task).tables
    listed = [row["word"] for row in table.rows if row["word"] in marks]
    assert listed == marks
    assert len({row["low"] for row in table.rows if row["word"] in marks}) == 1


def test_a_text_counts_once_however_many_rows_have_it() -> None:
    rng = np.random.default_rng(0)
    examples = []
    for p in range(100):
        premise, label = sentence(rng, 30), TASK.labels[int(rng.integers(2))]
        examples += [Example.of(f"{p}-{k}", premise, sentence(rng, 6), label) for k in range(20)]
    alike = [replace(e, segments={**e.segments, "text_b": "so"}) for e in examples]
    assert words(alike).verdicts[0].answer == "none found"


def test_joint_intervals_widen_with_the_number_of_tests() -> None:
    one = wilson(0.5, 100, joint_z(1))
    many = wilson(0.5, 100, joint_z(10_000))
    assert one == pytest.approx((0.4038, 0.5962), abs=1e-3)  # Wilson at 95 %
    assert many[0] < one[0]
    assert many[1] > one[1]


def test_one_label_and_numbers_have_no_label_words() -> None:
    with pytest.raises(NothingToMeasure, match="every row has the label"):
        words([e for e in rows(50) if e.label == "yes"])
    with pytest.raises(NothingToMeasure, match="numbers"):
        words(rows(50), Task("toy"))


def test_planted_duplicates_are_found_exactly() -> None:
    examples = rows(400)
    planted = [
        with_texts(examples[3], "exact", examples[3].text_a, examples[3].text_b),
        with_texts(
            examples[5],
            "case",
            examples[5].text_a.upper().replace(" ", "  "),
            examples[5].text_b,
            "yes",
        ),
        with_texts(
            examples[8], "near", f"{examples[8].text_a[:-1]} tem.", examples[8].text_b, "no"
        ),
    ]
    found = matches([*examples, *planted])
    assert found == {"exact": [(400, 3)], "normalised": [(401, 5)], "near": [(402, 8)]}


def test_all_three_kinds_are_counted_with_their_labels() -> None:
    examples = rows(100)
    planted = [
        with_texts(examples[2], "p1", examples[2].text_a, examples[2].text_b, "yes"),  # was "no"
        with_texts(examples[4], "p2", examples[4].text_a.upper(), examples[4].text_b),
    ]
    found = duplicates(Dataset("d", TASK, [*examples, *planted], {"repeated row": 7}), None)
    [verdict] = found.verdicts
    assert verdict.because.startswith("2 of 102 rows repeat another")
    assert verdict.because.endswith("1 of them with another label")
    assert "the 7 rows left out on reading are not counted here" in found.notes[0]
    assert {row["kind"]: row["rows"] for row in found.tables[0].rows}["equal to the letter"] == 1


def test_planted_leaks_are_found_exactly() -> None:
    train, test = rows(200, seed=1), rows(100, seed=2)
    leaked = [with_texts(train[9], "l1", train[9].text_a, train[9].text_b)]
    leaked += [with_texts(train[7], "l2", train[7].text_a, "other words")]
    found = duplicates(Dataset("d", TASK, [*test, *leaked]), Dataset("t", TASK, train))
    duplicate, leak = found.verdicts
    assert duplicate.answer == "none found"
    assert leak.because.startswith("1 of 102 rows are in the training data (1 equal to the letter)")
    shared = {
        row["what"]: row["rows"]
        for row in found.tables[0].rows
        if row["what"].startswith("test rows whose")
    }
    assert shared == {
        "test rows whose text_a is in the training data": 2,
        "test rows whose text_b is in the training data": 1,
    }


def test_one_long_premise_under_other_hypotheses_is_no_repeat() -> None:
    rng = np.random.default_rng(0)
    premises = [sentence(rng, 100) for _ in range(50)]
    test = [
        Example.of(f"{p}-{k}", a, sentence(rng, 6), TASK.labels[k % 2])
        for p, a in enumerate(premises)
        for k in range(3)
    ]
    train = [Example.of(f"t{p}", a, sentence(rng, 6), "no") for p, a in enumerate(premises)]
    found = duplicates(Dataset("d", TASK, test), Dataset("t", TASK, train))
    assert [verdict.answer for verdict in found.verdicts] == ["none found", "none found"]


def test_a_near_row_is_found_among_many_of_its_premise() -> None:
    rng = np.random.default_rng(0)
    premise = sentence(rng, 100)
    test = [Example.of(str(k), premise, sentence(rng, 20), "yes") for k in range(60)]
    near = with_texts(
        test[7], "near", premise, f"{test[7].text_b[:-1]} tem." if test[7].text_b else None
    )
    assert matches([*test, near])["near"] == [(60, 7)]
    assert matches([*test, near], n_old=60)["near"] == [(60, 7)]


def test_a_row_of_the_training_data_can_also_repeat_inside_the_test_data() -> None:
    train, test = rows(20, seed=1), rows(18, seed=2)
    twice = [
        with_texts(train[0], name, train[0].text_a, train[0].text_b, label)
        for name, label in (("x", "yes"), ("y", "no"))
    ]
    shouted = [
        with_texts(train[4], name, train[4].text_a.upper(), train[4].text_b) for name in ("v", "w")
    ]
    found = duplicates(Dataset("d", TASK, [*test, *twice, *shouted]), Dataset("t", TASK, train))
    repeat, leak = (verdict.because for verdict in found.verdicts)
    assert (
        repeat
        == "2 of 22 rows repeat another (2 equal to the letter); 1 of them with another label"
    )
    assert leak.startswith(
        "4 of 22 rows are in the training data (2 equal to the letter, 2 equal but for case"
    )


def test_the_same_words_in_another_order_with_another_label_are_a_contrast() -> None:
    long = " ".join(NAMES[:40])
    turned = " ".join([*NAMES[1::-1], *NAMES[2:40]])
    other = " ".join(NAMES[50:90])
    examples = [
        Example.of("1", long, "x", "yes"),
        Example.of("2", turned, "x", "no"),
        Example.of("3", other, "x", "no"),
    ]
    found = duplicates(Dataset("d", TASK, examples), None)
    assert found.verdicts[0].answer == "none found"
    assert found.verdicts[0].because.endswith(
        "Not counted: 1 with the same words in another order and another label"
    )
    assert matches([examples[0], replace(examples[1], label="yes")])["near"] == [
        (1, 0)
    ]  # the same label: said twice
    leak = duplicates(Dataset("d", TASK, examples[1:2]), Dataset("t", TASK, examples[:1])).verdicts[
        1
    ]
    assert leak.answer == "none found"
    assert "Not counted: 1 with" in leak.because


def test_the_cost_of_near_rows_grows_with_their_number(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    monkeypatch.setattr(
        sys.modules["disorder.verbs.sanity.checks.duplicates"],
        "row_similarity",
        lambda one, other: calls.append(1) or row_similarity(one, other),
    )
    examples = [
        Example.of(str(i), " ".join(NAMES[:40]), f"{' '.join(NAMES[40:80])} n{i}", "yes")
        for i in range(1000)
    ]
    assert len(matches(examples)["near"]) > 950
    assert len(calls) <= 2 * N_BANDS * len(
        examples
    )  # not the half million that every row with every other would take


def test_texts_without_words_are_compared_to_the_letter() -> None:
    found = matches(
        [
            Example.of("1", "?!", None, "a"),
            Example.of("2", "…", None, "a"),
            Example.of("3", "?!", None, "b"),
        ]
    )
    assert found["exact"] == [(2, 0)]
    assert found["normalised"] == []
