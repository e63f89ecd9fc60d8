"""Multiple choice and pairs: rows are recognised, and models with a known answer are told apart."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import disorder
from disorder.data import known_tasks, read_data
from disorder.errors import BadData, BadModel, DisorderError
from disorder.metrics.statistics.pairs_of_orders import pair_counts
from disorder.models import load
from disorder.registry import TaskPart, parts
from disorder.results.run import Run
from disorder.results.run_result import run_result
from disorder.results.terminal import SafeConsole, summary
from disorder.types import Dataset, Floats, Segments
from fake_server import FakeServer

Row = dict[str, Any]
Rows = list[Row]
WORDS = ("red", "green", "blue", "small", "large", "round", "flat", "old", "new", "warm", "cold")
THINGS = (
    "stone",
    "house",
    "river",
    "cloud",
    "table",
    "horse",
    "letter",
    "garden",
    "window",
    "road",
)


def questions(n: int = 120, sizes: Sequence[int] = (4,)) -> Rows:
    """Questions that are answered by the order of two colours, each with options of its own."""
    rng = np.random.default_rng(0)
    rows = []
    for i in range(n):
        first, second = rng.permutation(WORDS)[:2]
        thing, other = rng.permutation(THINGS)[:2]
        k = sizes[i % len(sizes)]
        wrong = [f"{each} {i}" for each in rng.permutation(THINGS)[: k - 1]]
        answer = int(rng.integers(k))
        options = [*wrong[:answer], f"the {first} one", *wrong[answer:]]
        ask = f"Which stands before the {first} {thing} and the {second} {other} in line {i} ?"
        rows.append({"id": f"q{i:03}", "question": ask, "options": options, "answer": answer})
    return rows


def order_of(question: str) -> tuple[str, ...]:
    """The words of a question in their order, whatever marks are on them."""
    return tuple(word.strip("?.,").lower() for word in question.split())


def known(rows: Rows) -> dict[tuple[str, ...], str]:
    return {order_of(row["question"]): row["options"][row["answer"]] for row in rows}


def reader(rows: Rows) -> Callable[[Rows], list[int]]:
    """Knows the answer to a question in its own order, and guesses otherwise."""
    answers = known(rows)

    def choose(given: Rows) -> list[int]:
        found = []
        for each in given:
            answer = answers.get(order_of(each["question"]))
            guess = sum(map(ord, each["question"][:9])) % len(each["options"])
            found.append(each["options"].index(answer) if answer else guess)
        return found

    return choose


def word_counter(rows: Rows) -> Callable[[Rows], list[int]]:
    """Knows the answer to a question by its words, in any order."""
    answers = {tuple(sorted(key)): answer for key, answer in known(rows).items()}

    def choose(given: Rows) -> list[int]:
        asked = (tuple(sorted(order_of(each["question"]))) for each in given)
        return [each["options"].index(answers[key]) for key, each in zip(asked, given, strict=True)]

    return choose


def always_second(given: Rows) -> list[str]:
    return ["B" for _ in given]


def longest(given: Rows) -> list[str]:
    return [max(each["options"], key=len) for each in given]


def audited(model: Any, rows: Rows, **more: Any) -> Run:
    settings = {"fidelity": "natural", "q": 5, "short": "use", "with_": ["derange"], "cache": "off"}
    return disorder.audit(model, rows, **(settings | more))


def kind_of(run: Run) -> str:
    assert run.conclusion is not None
    return run.conclusion.kind


def test_a_reader_a_counter_and_one_letter_are_told_apart() -> None:
    rows = questions()
    assert kind_of(audited(reader(rows), rows)) == "reads_order"
    counter = audited(word_counter(rows), rows)
    assert kind_of(counter) == "order_not_used"
    assert counter.conclusion is not None
    assert "the question" in counter.conclusion.because
    assert kind_of(audited(always_second, rows)) == "one_label"


@pytest.mark.parametrize("sizes", [(2,), (4,), (5,), (2, 3, 5)])
def test_a_guesser_has_no_skill_whatever_the_number_of_options(sizes: Sequence[int]) -> None:
    rows = questions(600, sizes)
    run = audited("uniform", rows)
    assert kind_of(run) in ("no_skill", "undecided")
    accuracy = run["original", "accuracy"]
    chance = float(np.mean([1 / len(row["options"]) for row in rows]))
    assert accuracy.low <= chance <= accuracy.high
    assert run.conclusion is not None
    assert f"{chance:.2f}" in run.conclusion.because


def test_skill_is_above_the_chance_of_each_question() -> None:
    """Half of the questions have two options and half five: a model that is right on all of them
    before, and guesses after, keeps nothing.
    """
    rows = questions(400, (2, 5))
    run = audited(reader(rows), rows)
    kept = run["derange", "skill_kept"]
    assert kept.low <= 0 <= kept.high
    assert run["derange", "accuracy"].value == pytest.approx(0.35, abs=0.06)
    assert run.chance == pytest.approx(0.35)
    assert "Guessing: 35 %." in " ".join(run_result(run).lead)


PLACES = {
    "content": (0.0, 1.0),
    "place": (1.0, 0.0),
    "half": (0.5, 0.5),
}


@pytest.mark.parametrize("sizes", [(2,), (4,), (5,), (2, 3, 4, 5)])
def test_a_guesser_is_not_said_to_follow_the_place(sizes: Sequence[int]) -> None:
    run = audited("uniform", questions(400, sizes), with_=[], on="options", q=6)
    for metric in ("follows_place", "holds_to_option"):
        found = run["shuffle_options", metric]
        assert found.low <= 0 <= found.high
    assert "is not shown to follow the position of the option" in run.verdict


TWO = {
    "place": (always_second, 1.0, "Its answer follows the position"),
    "content": (longest, -1.0, "Its answer does not follow the position"),
}


@pytest.mark.parametrize("name", TWO)
def test_two_options_tell_place_from_content(name: str) -> None:
    model, expected, told = TWO[name]
    rows = questions(60, (2,))
    for row in rows:
        row["options"] = ["short", "a longer option"]
    run = audited(model, rows, with_=[], on="options", q=6)
    assert run["shuffle_options", "follows_place"].value == pytest.approx(expected)
    assert told in run.verdict
    assert "−1 = always the same content" in run.verdict


def test_an_option_that_keeps_its_place_is_not_taken_for_a_place() -> None:
    rows = questions(200)
    for i, row in enumerate(rows):
        if i % 2:
            row["options"][3] = "none of the above"
            row["answer"] = 3 if i % 4 == 1 else i % 3
    by_content = audited(word_counter(rows), rows, with_=[], on="options", q=6)
    assert by_content["shuffle_options", "follows_place"].value == pytest.approx(0, abs=0.03)
    assert "is not shown to follow the position" in by_content.verdict
    by_place = audited(always_second, rows, with_=[], on="options", q=6)
    assert by_place["shuffle_options", "follows_place"].value == pytest.approx(1, abs=0.03)
    assert by_place["shuffle_options", "holds_to_option"].value == pytest.approx(0, abs=0.03)


def test_few_orders_do_not_hide_the_options_that_stayed() -> None:
    """An option that two orders left in its place by chance counted as one that never moves: the
    shares were too low, and below 0 the legend of two options stood beside them.
    """
    rows = questions(1600)
    by_content = audited(word_counter(rows), rows, with_=[], on="options", q=2)
    follows = by_content["shuffle_options", "follows_place"]
    assert follows.low <= 0 <= follows.high
    assert follows.value == pytest.approx(0, abs=0.03)
    assert 23 / 24 * 1600 - 25 < follows.n < 23 / 24 * 1600 + 25, "pairs of different orders"

    def never_there_twice(given: Rows) -> list[int]:
        """A question gets the next letter each time."""
        found = []
        for each in given:
            seen[each["question"]] = seen.get(each["question"], -1) + 1
            found.append(seen[each["question"]] % 4)
        return found

    seen: dict[str, int] = {}
    avoids = audited(never_there_twice, questions(200), with_=[], on="options", q=3)
    assert avoids["shuffle_options", "follows_place"].high < 0
    assert "Its answer does not follow the position" in avoids.verdict
    assert "0 = the content decides or it guesses" in avoids.verdict


OPTIONS: dict[str, Any] = {"with_": [], "on": "options", "q": 4}


@pytest.mark.parametrize("fixed", [[], ["none of the above"]])
def test_the_legend_of_two_orders_stands_beside_them_alone(fixed: list[str]) -> None:
    rows = questions(60, (2,))
    for row in rows:
        row["options"] = ["short", "a longer option", *fixed]
    run = audited(lambda given: [max(o["options"][:2], key=len) for o in given], rows, **OPTIONS)
    assert run["shuffle_options", "follows_place"].value == pytest.approx(-1)
    assert "−1 = always the same content" in run.verdict


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("size", [3, 4, 5])
def test_what_an_answer_follows_when_options_move(name: str, size: int) -> None:
    rows = questions(200, (size,))
    by_content = word_counter(rows)

    def half(given: Rows) -> list[int]:
        chosen = by_content(given)
        number = [int(re.findall(r"\d+", each["question"])[0]) for each in given]
        return [1 if n % 2 else answer for n, answer in zip(number, chosen, strict=True)]

    model = {"content": by_content, "place": always_second, "half": half}[name]
    run = audited(model, rows, with_=[], on="options", q=6)
    for metric, expected in zip(("follows_place", "holds_to_option"), PLACES[name], strict=True):
        found = run["shuffle_options", metric]
        assert found.low - 1e-9 <= expected <= found.high + 1e-9
        assert found.value == pytest.approx(expected, abs=0.1)
    follows = run["shuffle_options", "follows_place"]
    assert ("is not shown to follow" in run.verdict) == (follows.low <= 0)
    assert f"{follows.value:.2f}".replace("-", "−") in run.verdict


def test_a_model_that_takes_the_longest_option_reads_no_question() -> None:
    rows = questions(200)
    for i, row in enumerate(rows):
        if i % 4:
            row["options"][row["answer"]] += " that is much longer than any other"
    run = audited(longest, rows)
    assert run["original", "accuracy"].value >= 0.75
    assert kind_of(run) == "order_not_used"
    assert run["derange", "agreement"].value == 1.0
    moved = audited(longest, rows, with_=[], on="options", q=5)
    assert moved["shuffle_options", "holds_to_option"].value > 0.95
    assert "is not shown to follow the position" in moved.verdict


def test_accuracy_by_place_stands_beside_what_no_effect_gives() -> None:
    rows = questions(200)

    def first_is_easy(given: Rows) -> list[int]:
        """Right where the right option stands first, else it takes the last."""
        return [0 if each == 0 else 3 for each in word_counter(rows)(given)]

    settings: dict[str, Any] = {"with_": [], "on": "options", "q": 5}
    places = audited(first_is_easy, rows, **settings).figures["shuffle_options"]["places"]
    assert places["accuracy"] == [1.0, 0.0, 0.0, 1.0]
    assert 950 <= sum(places["n"]) <= 1000, "but for those whose right option never moved"
    assert places["gap"] == 1.0
    assert places["p"] == 0.001
    places = audited(always_second, rows, **settings).figures["shuffle_options"]["places"]
    assert places["accuracy"] == [0.0, 1.0, 0.0, 0.0]
    # dealt within questions, those whose right option came second more often are right more often
    assert 0.03 < places["gap_without_effect"] < 0.25 < places["gap"]
    assert places["p"] == 0.001
    run = audited("uniform", rows, **settings)
    places = run.figures["shuffle_options"]["places"]
    assert 0.03 < places["gap_without_effect"] < 0.12
    assert places["p"] > 0.05
    assert "if places had no effect (permutation test: p = 0." in run.verdict
    # a model that reads content alone is right wherever the right option stands
    places = audited(word_counter(rows), rows, **settings).figures["shuffle_options"]["places"]
    assert (places["gap"], places["gap_without_effect"], places["p"]) == (0.0, 0.0, 1.0)


def test_harder_questions_with_an_option_that_keeps_its_place_are_no_effect_of_places() -> None:
    """Their right option never stands in that place, so places differ in accuracy all the same."""
    rows = questions(200)
    for row in rows[:100]:
        row["options"][3] = "None of the above"
        row["answer"] = min(row["answer"], 2)

    def right_by_lot(given: Rows) -> list[int]:
        right = word_counter(rows)(given)
        is_hard = ["None of the above" in each["options"] for each in given]
        drawn = np.random.default_rng(0).random(len(given)) < np.where(is_hard, 0.3, 0.9)
        return [
            each if is_right else (each + 1) % 3
            for each, is_right in zip(right, drawn, strict=True)
        ]

    run = audited(right_by_lot, rows, with_=[], on="options", q=5)
    places = run.figures["shuffle_options"]["places"]
    assert places["gap"] > 0.1
    assert places["gap_without_effect"] > 0.1
    assert places["p"] > 0.05


def test_the_spelling_of_before_is_accepted_with_a_warning() -> None:
    old: dict[str, Any] = {"break_": "options"}
    with pytest.warns(DeprecationWarning, match="break_ is now written on") as warned:
        run = audited(always_second, questions(12), with_=[], **old)
    assert run.settings["break_"] == "options"
    assert "test_tasks" in warned[0].filename, "it names the line of the user"


def test_options_that_speak_of_others_keep_their_place() -> None:
    rows = questions(30)
    for row in rows:
        row["options"][3] = "None of the above"
        row["answer"] = min(row["answer"], 2)
    seen: list[str] = []

    def watching(given: Rows) -> list[int]:
        seen.extend(each["options"][3] for each in given)
        return [0 for _ in given]

    audited(watching, rows, with_=[], on="options")
    assert set(seen) == {"None of the above"}


def test_deranged_options_leave_the_question_and_draw_no_verdict() -> None:
    """No option keeps its place: a model that reads them would seem to follow the place."""
    seen: Rows = []
    rows = questions(40)
    by_content = word_counter(rows)

    def watching(given: Rows) -> list[int]:
        seen.extend(given)
        return by_content(given)

    run = audited(watching, rows, with_="derange", on="options", q=6)
    assert {each["question"] for each in seen} == {row["question"] for row in rows}
    assert run.score("derange:on=options", "follows_place") is None
    assert run.verdict.startswith("No verdict: what an answer follows")


def test_a_list_that_moves_beside_a_text_has_no_surface_to_lose() -> None:
    seen: Rows = []
    rows = questions(40)
    by_content = word_counter(rows)

    def watching(given: Rows) -> list[int]:
        seen.extend(given)
        return by_content(given)

    run = audited(watching, rows, with_="derange:on=question+options", q=3)
    offered = {tuple(sorted(row["options"])) for row in rows}
    assert {tuple(sorted(each["options"])) for each in seen} == offered
    assert run.score("surface:of=derange:on=question+options", "accuracy") is not None


def test_pairs_of_different_orders_are_counted() -> None:
    values = np.array([[0, 0, 1, 1], [2, 2, 2, 0]])
    given = np.ones((2, 4), dtype=bool)
    assert pair_counts(values, given).tolist() == [2.0, 3.0]
    given[1, 0] = False
    assert pair_counts(values, given).tolist() == [2.0, 1.0]


Q = {"question": "q"}
XY = {"question": "q", "options": ["x", "y"]}
FORMS: dict[str, Row] = {
    "a list and a place": XY | {"answer_index": 1},
    "a list and a letter": Q | {"choices": ["x", "y"], "answer": "B"},
    "a list and a letter in brackets": Q | {"choices": ["x", "y"], "answer": "(b)"},
    "a list and a text": Q | {"endings": ["x", "y"], "label": "y"},
    "a list with letters": Q | {"options": ["(A) x", "(B) y"], "label": "B"},
    "a list in a text": Q | {"choices": "['x', 'y']", "label": "1"},
    "lines": Q | {"choices": "A. x\nB. y", "answer": "B"},
    "a mapping": Q | {"choices": {"text": ["x", "y"], "label": ["1", "2"]}, "answerKey": "2"},
    "a mapping by letter": Q | {"options": {"A": "x", "B": "y", "C": None}, "answer_idx": "B"},
    "objects": {
        "question": {
            "stem": "q",
            "choices": [{"text": "x", "label": "A"}, {"text": "y", "label": "B"}],
        },
        "answerKey": "B",
    },
    "a column each": {"Question": "q", "A": "x", "B": "y", "C": "", "Correct Answer": "B"},
    "numbered columns": {"sentence": "q", "option1": "x", "option2": "y", "answer": "2"},
    "endings": {"ctx": "q", "ending0": "x", "ending1": "y", "label": 1},
    "an answer in a list": XY | {"answer": ["B"]},
    "a number of a data frame": XY | {"label": 1.0},
    "PIQA": {"goal": "q", "sol1": "x", "sol2": "y", "label": 1},
    "a letter and its text": XY | {"answer": "B) y"},
    "options in one line": Q | {"options": "A) x, B) y", "answer": "B"},
    "options in one line, set apart": Q | {"options": "a ) x , b ) y", "correct": "b"},
    "answers with one": XY | {"answers": ["B"]},
    "a gold label": XY | {"gold_label": "B"},
    "full-width letters": Q | {"options": ["Ａ．x", "Ｂ．y"], "answer": "Ｂ"},
    "Chinese marks": Q | {"options": "A、x B、y", "answer": "B"},
    "Chinese columns": {"问题": "q", "选项A": "x", "选项B": "y", "答案": "B"},
}


def test_an_array_for_an_option_is_no_gap() -> None:
    """Comparing it with itself gave an array, whose truth ended the reading with a traceback."""
    [example] = read_data([Q | {"options": ["y", np.array([1, 2])], "answer": "A"}]).examples
    assert example.segments["options"] == ("y", "[1 2]")


@pytest.mark.parametrize("form", FORMS)
def test_multiple_choice_is_recognised_in_the_forms_it_comes_in(form: str) -> None:
    [example] = read_data([FORMS[form]], language="en").examples
    assert example.label == "B"
    assert example.segments == {"question": "q", "options": ("x", "y")}
    assert example.texts == ("q", None)


def test_true_and_false_are_texts_too() -> None:
    [example] = read_data([Q | {"options": ["True", "False"], "answer": False}]).examples
    assert example.label == "B"


@pytest.mark.parametrize("name", ["passages", "contexts", "documents"])
@pytest.mark.parametrize("items", [["a b.", "c d."], [{"text": "a b."}, ["T", ["c", "d."]]]])
def test_passages_of_a_question_are_read(name: str, items: list[Any]) -> None:
    for row in (Q | {"answers": ["x"]}, XY | {"answer": "B"}):
        [example] = read_data([row | {name: items}], language="en").examples
        assert len(example.segments["passages"]) == 2
        assert example.segments["passages"][0] == "a b."
    with pytest.raises(BadData, match=f"columns='{name}=other'"):
        read_data([XY | {"answer": "B", name: {"sentences": ["a b."]}}])


def test_texts_that_nobody_reads_are_mentioned(caplog: pytest.LogCaptureFixture) -> None:
    row = XY | {"answer": "B", "background": "a b c d e", "article": "f g h i j", "src": "k"}
    read_data([row], language="en")
    assert "column background looks like a text and is not read" in caplog.text
    caplog.clear()
    read_data([row], columns="background=context,article=other", language="en")
    assert "column other looks like a text" in caplog.text


def spelled(n: int = 40, size: int = 4) -> list[tuple[list[str], int]]:
    rng = np.random.default_rng(0)
    return [
        ([" ".join(map(str, rng.permutation(WORDS)[:3])) for _ in range(size)], i % size)
        for i in range(n)
    ]


UNKNOWN: dict[str, Callable[[list[str], int], Row]] = {
    "opzione_a=A,opzione_b=B,opzione_c=C,opzione_d=D,domanda=question,risposta=answer": (
        lambda options, place: {
            "domanda": f"{' '.join(options)}?",
            **{f"opzione_{letter}": text for letter, text in zip("abcd", options, strict=True)},
            "risposta": "ABCD"[place],
        }
    ),
    "picks=options": lambda options, place: {
        "question": f"{' '.join(options)}?",
        "picks": options,
        "label": place,
    },
    "first=A,second=B,third=C,fourth=D,right=answer": lambda options, place: {
        "question": f"{' '.join(options)}?",
        **dict(zip(("first", "second", "third", "fourth"), options, strict=True)),
        "right": "ABCD"[place],
    },
    "solution=answer": lambda options, place: {
        "question": f"{' '.join(options)}?",
        "options": options,
        "solution": "ABCD"[place],
    },
}


@pytest.mark.parametrize("columns", UNKNOWN)
def test_what_may_be_options_is_an_error_that_says_what_to_type(columns: str) -> None:
    rows = [UNKNOWN[columns](*each) for each in spelled()]
    with pytest.raises(BadData, match=f"columns='{columns}', or task='labels'"):
        read_data(rows)
    dataset = read_data(rows, columns=columns, language="en")
    assert dataset.task.kind == "choice"
    assert {each.label for each in dataset.examples} == set("ABCD")
    assert {len(each.options) for each in dataset.examples} == {4}


LABELLED: dict[str, Callable[[list[str], int], Row]] = {
    "tokens": lambda texts, i: {"text": texts[0], "tokens": texts[0].split(), "label": i % 2},
    "entities": lambda texts, i: {"text": texts[0], "entities": texts[1:3], "label": i % 2},
    "a pair": lambda texts, i: {"sentence1": texts[0], "sentence2": texts[1], "label": 1 + i % 2},
    "raters": lambda texts, i: {
        "text": texts[0],
        "rater1": ("good", "bad")[i % 2],
        "rater2": "good",
        "rater3": "bad",
        "label": ("good", "bad")[i % 2],
    },
    "features": lambda texts, i: {"text": texts[0], "f1": "0.5", "f2": "1", "f3": "2", "label": i},
}


def test_a_file_without_a_line_of_names_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "mmlu.csv"
    lines = [
        f"q{i} {','.join(options)},{'ABCD'[place]}" for i, (options, place) in enumerate(spelled())
    ]
    file.write_text("\n".join(lines))
    with pytest.raises(BadData, match="first line is taken for the names of columns, but 'A'"):
        read_data(str(file))


def test_lists_in_a_table_are_read_as_lists(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows = [f'q{i}?,"[\'x y\', ""it\'s {i}""]","[\'a b c.\' \'d e f.\']"' for i in range(3)]
    file = tmp_path / "rag.csv"
    file.write_text("\n".join(["question,answers,contexts", *rows]))
    example = read_data(str(file), language="en").examples[0]
    assert example.segments["answers"][0] == "x y"
    assert len(example.segments["answers"]) == 2
    assert example.segments["passages"] == ("a b c.", "d e f.")
    assert "not read" not in caplog.text


@pytest.mark.parametrize("form", LABELLED)
def test_lists_beside_labels_are_no_options(form: str) -> None:
    rows = [LABELLED[form](*each) for each in spelled()]
    assert read_data(rows, language="en").task.kind == "labels"


def test_answers_to_a_prompt_are_no_pair_without_it() -> None:
    row = {"prompt": "p q?", "chosen": "a b", "rejected": "b a"}
    with pytest.raises(BadData, match=r"task='pair', or task='choice'"):
        read_data([row])
    assert read_data([row], task="pair", language="en").task.kind == "pair"
    typed = "chosen=correct_answer,rejected=wrong_answer_1"
    [example] = read_data([row], task="choice", columns=typed, language="en").examples
    assert example.segments["question"] == "p q?"
    assert example.options["AB".index(example.label)] == "a b"
    whole = {"prompt": "p q?", "chosen": "p q? a b", "rejected": "p q? b a"}
    assert read_data([whole], language="en").task.kind == "pair"


def labels_of(rows: Rows) -> dict[str, str]:
    return {each.id: each.label for each in read_data(rows, language="en").examples}


@pytest.mark.parametrize("written", [int, str, float])
def test_places_count_from_what_all_rows_show(written: Callable[[int], Any]) -> None:
    def rows(first: int) -> Rows:
        options = ["x", "y", "z"]
        return [
            {"id": f"{i}", "question": f"q{i}", "options": options, "answer": written(first + i)}
            for i in range(3)
        ]

    expected = {"0": "A", "1": "B", "2": "C"}
    assert labels_of(rows(0)) == expected
    assert labels_of(rows(1)) == expected
    with pytest.raises(BadData, match="several ways"):
        labels_of([rows(0)[0], rows(1)[2]])


def test_answers_that_can_mean_two_things_are_an_error() -> None:
    numbers = {"question": "q", "options": ["0", "4", "2", "6"]}
    with pytest.raises(BadData, match="as text and as place"):
        read_data([numbers | {"answer": "2"}])
    assert labels_of([numbers | {"id": "1", "answer_index": 2}]) == {"1": "C"}
    assert labels_of([numbers | {"id": "1", "answer_num": 2}]) == {"1": "B"}
    few = [Q | {"id": f"{i}", "options": ["x", "y", "z"], "answer": i} for i in (1, 2)]
    with pytest.raises(BadData, match="place from 0 and as place from 1"):
        read_data(few)
    blood = Q | {"options": ["O", "A", "B", "AB"]}
    with pytest.raises(BadData, match="as letter and as text"):
        read_data([blood | {"answer": "A"}])
    none_is_first_or_last = [
        {"question": f"q{i}", "options": ["x", "y", "z"], "answer": 1} for i in range(20)
    ]
    with pytest.raises(BadData, match="place from 0 and as place from 1"):
        read_data(none_is_first_or_last)
    with pytest.raises(BadData, match="several ways"):
        read_data([XY | {"answer": "B"}, XY | {"question": "p", "answer": "1"}])


def test_the_first_name_counts_however_it_is_spelled() -> None:
    abcd = {"A": "w", "B": "x", "C": "y", "D": "z"}
    row = {"Question": "q", "text": "a passage", "Correct Answer": "D"} | abcd
    [example] = read_data([row], language="en").examples
    assert example.segments["question"] == "q"
    assert example.label == "D"
    assert read_data([row | {"label": "D"}], language="en").examples[0].label == "D"
    with pytest.raises(BadData, match="'Correct Answer' and 'label' disagree"):
        read_data([row | {"label": 1}])
    other = read_data([row | {"label": 1}], columns="label=other", language="en")
    assert other.examples[0].label == "D"
    assert [each.id for each in read_data([row | {"qid": "k"}], columns="qid=id").examples] == ["k"]


def test_a_right_answer_and_wrong_ones_are_put_into_an_order() -> None:
    places = set()
    for i in range(20):
        row = {"question": f"q{i}", "correct_answer": f"r{i}", "incorrect_answers": ["x", "y", "z"]}
        [example] = read_data([row], language="en").examples
        place = "ABCD".index(example.label)
        assert example.options[place] == f"r{i}"
        places.add(place)
    assert len(places) == 4


MARKED: dict[str, Row] = {
    "TruthfulQA": {"mc1_targets": {"choices": ["r", "x", "y"], "labels": [1, 0, 0]}},
    "BIG-bench": {"target_scores": {"x": 0, "r": 1, "y": 0}},
    "its table": {"multiple_choice_targets": ["x", "r"], "multiple_choice_scores": [0, 1]},
    "objects": {"answers": [{"text": "x", "correct": False}, {"text": "r", "correct": True}]},
    "choices": {"choices": [{"text": "x", "is_correct": 0}, {"text": "r", "is_correct": 1}]},
}


@pytest.mark.parametrize("form", MARKED)
def test_options_that_are_marked_as_right_are_read(form: str) -> None:
    for i in range(20):
        row = {"question": f"q{i}", **MARKED[form]}
        [example] = read_data([row], language="en").examples
        assert example.options["ABC".index(example.label)] == "r"
        assert len(example.options) == len(set(example.options)) > 1
    options = {"question": "q", "options": {"A": "x", "B": "r"}, "answer": "B"}
    assert read_data([options], language="en").examples[0].options == ("x", "r")
    numbers = {"question": "q", "options": {"A": 1, "B": 0}, "answer": "B"}
    assert read_data([numbers], language="en").examples[0].options == ("1", "0")


def test_options_are_not_lost_in_silence() -> None:
    row = XY | {"answer": "B"}
    with pytest.raises(BadData, match=r"task='labels' or task='choice'"):
        read_data([row], columns="question=text_a,answer=label")
    assert read_data([row], columns="question=text_a,answer=label", task="labels").task.labels
    unknown = Q | {"picks": ["x", "y"], "answer": "B"}
    with pytest.raises(BadData, match="columns='picks=options'"):
        read_data([unknown])
    assert read_data([unknown], columns="picks=options").task.kind == "choice"
    yes_or_no = [Q | {"id": str(i), "answer": bool(i % 2)} for i in range(30)]
    with pytest.raises(BadData, match="2 different answers, as texts with labels"):
        read_data(yes_or_no)


def test_a_script_without_spaces_is_shown_without_them() -> None:
    rows = [
        {"id": f"{who}{where}", "question": f"{who}昨天在{where}看书。", "options": ["累", "好"]}
        for who in ("老师", "医生", "朋友", "弟弟", "邻居")
        for where in ("图书馆", "学校", "公园", "家里")
    ]
    for i, row in enumerate(rows):
        row["answer"] = i % 2
    run = audited(reader(rows), rows, language="zh")
    lines = [line.plain for line in summary(run_result(run), SafeConsole(width=100))]
    shown = [line for line in lines if "昨天" in line]
    assert len(shown) == 2
    assert not any(" " in re.findall('"(.*)"', line)[0] for line in shown)


def test_cause_and_effect_have_questions_of_their_own() -> None:
    row = {"question": "It rained.", "asks_for": "effect", "options": ["a", "b"], "answer": 0}
    [example] = read_data([row], language="en").examples
    assert example.segments["ask"] == "What happened as a result?"
    with pytest.raises(BadData, match="cause or effect"):
        read_data([row | {"asks_for": "why"}])


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "an answer that is no option": (XY | {"answer": 5}, "none of the 2"),
    "one option": (FORMS["a list and a place"] | {"options": ["x"]}, "2 to 26"),
    "options that are a text": (FORMS["a list and a place"] | {"options": "xy"}, "list of texts"),
}


@pytest.mark.parametrize("what", WRONG)
def test_rows_that_cannot_be_read_say_why(what: str) -> None:
    row, message = WRONG[what]
    with pytest.raises(BadData, match=message):
        read_data([row])


def test_rows_without_an_answer_are_left_out_and_counted() -> None:
    rows = [XY | {"answer": 0}, {"question": "p", "options": ["x", "y"], "answer": -1}]
    dataset = read_data(rows, language="en")
    assert len(dataset.examples) == 1
    assert dict(dataset.skipped) == {"no gold label": 1}


def test_two_readings_are_an_error_that_names_both_tasks() -> None:
    row = FORMS["a list and a place"] | {"good": "a b", "bad": "b a"}
    with pytest.raises(BadData, match=r"task='choice'.*task='pair'|task='pair'.*task='choice'"):
        read_data([row])
    assert read_data([row], task="pair", language="en").task.kind == "pair"
    assert read_data([row], task="choice", language="en").task.kind == "choice"


def test_texts_with_labels_are_read_as_before() -> None:
    row = {"text_a": "a b", "label": "x", "options": ["x", "y"], "question": "q", "answer": 0}
    assert read_data([row], language="en").task.kind == "labels"
    named = read_data([row | {"sentence": "c"}], task="labels", language="en")
    assert named.task.kind == "labels"


def test_questions_with_other_options_are_other_questions() -> None:
    rows = [
        {"id": "1", "question": "q", "options": ["x", "y"], "answer": 0},
        {"id": "2", "question": "q", "options": ["x", "z"], "answer": 0},
    ]
    first, second = (read_data([row], language="en").fingerprint for row in rows)
    assert first != second
    assert len(read_data([{**row, "id": None} for row in rows], language="en").examples) == 2


def test_fixed_labels_are_no_answer_to_a_choice(tiny_bert: Path) -> None:
    with pytest.raises(BadModel, match="multiple choice needs a language model"):
        audited(f"hf:{tiny_bert}", questions(12))


def test_options_move_only_where_there_are_some() -> None:
    rows = [{"id": str(i), "text_a": f"a b c {i}", "label": "xy"[i % 2]} for i in range(10)]
    with pytest.raises(DisorderError, match="have no options; they have text_a"):
        audited("uniform", rows, with_=[], on="options")


def preferring(rows: Rows) -> Callable[[list[str]], list[float]]:
    good = {order_of(row["good"]) for row in rows}
    return lambda texts: [float(order_of(text) in good) for text in texts]


def pairs_of(n: int = 150) -> Rows:
    """Pairs of which a third has the same words in another order."""
    rng = np.random.default_rng(1)
    rows = []
    for i in range(n):
        words = [str(word) for word in rng.permutation(WORDS)[:6]]
        worse = [*words[1:], words[0]] if i % 3 == 0 else [*words[:-1], "never"]
        rows.append({"id": f"p{i:03}", "good": " ".join(words), "bad": " ".join(worse)})
    return rows


def test_pairs_are_decided_by_the_higher_score_and_ties_by_nobody() -> None:
    rows = pairs_of()
    run = audited(preferring(rows), rows)
    assert run["original", "accuracy"].value == 1.0
    assert kind_of(run) == "reads_order"
    assert "Guessing: 50 %." in " ".join(run_result(run).lead)
    with pytest.raises(DisorderError, match="none of the labels"):  # it prefers neither, ever
        audited(lambda texts: [0.0 for _ in texts], rows)


def test_pairs_of_the_same_words_are_a_group_without_a_kind() -> None:
    rows = pairs_of()

    def has_no_never(texts: list[str]) -> list[float]:
        return [-float("never" in text.split()) for text in texts]

    run = audited(has_no_never, rows)
    assert kind_of(run) == "bag_of_words"
    assert "same_words=yes" not in run.conclusions
    assert run["derange", "accuracy", "same_words=yes"].value == 0.0
    assert run.conclusion is not None
    assert run.conclusion.n == 100
    lead = run_result(run).lead
    assert lead[0].startswith("Right on 100 % of 100 pairs; with words shuffled still on 100 %.")
    assert not any("same_words" in line for line in lead)  # the conclusion is that of the group
    told = {each.kind: each.text for each in run.conclusion.caveats}
    assert "50 of 150 pairs have the same words" in told["same_words"]


def test_verbs_that_are_about_labels_say_so() -> None:
    for rows, form in ((questions(12), "options of their own"), (pairs_of(12), "a better and a")):
        for verb in (
            lambda rows: disorder.explain(always_second, rows),
            lambda rows: disorder.sanity(rows),
        ):
            with pytest.raises(DisorderError, match=f"is about texts with labels.*{form}"):
                verb(rows)
    texts = [{"text": "a b c"}, {"text": "d e f"}]
    with pytest.raises(DisorderError, match="are for an audit with task='likelihood'"):
        disorder.explain(always_second, texts, task="likelihood")


def test_both_texts_of_a_pair_move_alike() -> None:
    seen: list[str] = []

    def watching(texts: list[str]) -> list[float]:
        seen.extend(texts)
        return [float(len(seen)) + i for i, _ in enumerate(texts)]

    rows = [{"id": "1", "good": "a b c d e", "bad": "v w x y z"}] * 1
    with pytest.raises(DisorderError):
        audited(watching, rows, with_=["unknown"])
    run = audited(watching, [{"id": str(i), **rows[0]} for i in range(3)], q=2)
    assert run.n_examples >= 1
    partner = dict(zip("abcde", "vwxyz", strict=True))
    moved = {text for text in seen if text.startswith(tuple("abcde"))}
    assert {"".join(partner[c] for c in text.split()) for text in moved} == {
        text.replace(" ", "") for text in seen if text.startswith(tuple("vwxyz"))
    }


def test_likelihoods_of_options_are_those_of_plain_passes(tiny_llama: Path) -> None:
    import torch

    from disorder.models.prompting.choice_prompt import choice_prompt

    task = read_data(questions(4, (3, 2)), language="en").task
    choices = [
        {"question": row["question"], "options": tuple(row["options"])}
        for row in questions(4, (3, 2))
    ]
    for by in ("likelihood", "normalised"):
        prompt = choice_prompt(task, by=by, chat="off")
        loaded = load(f"causal:{tiny_llama}", task=task, options={"prompt": prompt})
        found = loaded.predict_segments(choices).values
        network = loaded.predictor.network  # type: ignore[attr-defined]
        for row, choice in zip(found, choices, strict=True):
            expected = _plain(
                torch, network, f"Question: {choice['question']}\nAnswer:", choice, by
            )
            np.testing.assert_allclose(row[: len(expected)], expected, atol=1e-4)
            assert (row[len(expected) :] == 0).all()


def _plain(torch: Any, network: Any, context: str, choice: Segments, by: str) -> Floats:
    scores = []
    n_context = len(network.tokenizer(context)["input_ids"])
    for option in choice["options"]:
        ids = network.tokenizer(f"{context} {option}")["input_ids"]
        with torch.inference_mode():
            logp = torch.log_softmax(network.network(torch.tensor([ids])).logits[0].float(), -1)
        total = sum(float(logp[i - 1, ids[i]]) for i in range(n_context, len(ids)))
        scores.append(total / len(option) if by == "normalised" else total)
    shares = np.exp(np.array(scores) - max(scores))
    return np.asarray(shares / shares.sum())


def test_a_server_is_asked_for_a_letter_and_shows_the_question(tmp_path: Path) -> None:
    rows = questions(20, (4, 3))
    answers = known(rows)

    def brain(text: str) -> dict[str, float]:
        asked = re.search(r"Question: (.*)", text)
        listed = dict(re.findall(r"([A-D])\. (.*)", text))
        answer = answers.get(order_of(asked[1])) if asked else None
        right = next((letter for letter, option in listed.items() if option == answer), "A")
        return {right: 0.9, **{each: 0.02 for each in "ABCD" if each != right}}

    with FakeServer(brain) as server:
        run = audited(f"openai:fake@{server.url}", rows, out=tmp_path / "run")
    assert run["original", "accuracy"].value == 1.0
    assert "A. " in run.prompt["rendered"]
    assert rows[0]["question"] in run.prompt["rendered"]


def test_a_run_is_read_back_compared_and_gated(tmp_path: Path) -> None:
    rows = questions()
    first = audited(reader(rows), rows, out=tmp_path / "reader")
    second = audited(word_counter(rows), rows, out=tmp_path / "counter")
    again = disorder.read_run(tmp_path / "reader")
    assert again.full_task == first.full_task
    compared = disorder.compare(first, second)
    [row] = [
        each
        for each in compared.differences
        if (each.transformation, each.metric) == ("derange", "skill_kept")
    ]
    assert row.difference > 0.8
    assert disorder.gate(first, ["skill_kept > 0.5"]).passed
    assert not disorder.gate(second, ["skill_kept > 0.5"]).passed


class Interrupted:
    """Chooses by the words of a question, once a call has been interrupted."""

    fingerprint = "interrupted"

    def __init__(self, rows: Rows, at: int) -> None:
        self.choose = word_counter(rows)
        self.at = at
        self.n_calls = 0
        self.labels = ("A", "B", "C", "D")

    def __call__(self, texts: Any, /) -> Any:
        raise AssertionError("a text alone has no options")

    def predict_segments(self, inputs: Sequence[Segments], /) -> Floats:
        self.n_calls += 1
        if self.n_calls == self.at:
            raise KeyboardInterrupt
        return np.eye(4)[self.choose([{**each, "options": [*each["options"]]} for each in inputs])]


def test_a_choice_is_resumed_to_the_same_scores(tmp_path: Path) -> None:
    rows = questions(60)
    whole = audited(Interrupted(rows, at=0), rows, out=tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        audited(Interrupted(rows, at=2), rows, out=tmp_path / "cut")
    resumed = disorder.resume(tmp_path / "cut", model=Interrupted(rows, at=0), data=rows)
    assert [vars(each) for each in resumed.scores] == [vars(each) for each in whole.scores]


def test_every_task_has_a_title_and_reads_a_row() -> None:
    assert {"choice", "pair", "causes"} <= set(parts(TaskPart))
    for entry in parts(TaskPart).values():
        assert entry.title
        assert entry.summary
        assert all(entry.columns)


def test_kinds_of_data_and_known_tasks_have_names_of_their_own() -> None:
    kinds = {*parts(TaskPart), "labels", "likelihood"}
    assert kinds.isdisjoint(known_tasks())
    rows = [{"text_a": "a b", "label": "entailment"}, {"text_a": "b a", "label": "neutral"}]
    with pytest.raises(DisorderError) as error:
        read_data(rows, task="mnlli")
    assert "mnli" in str(error.value)
    with pytest.raises(DisorderError, match="choice"):
        read_data(rows, task="choise")


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "kind", "n"),
    [
        ("arc/easy_test", "choice", 2376),
        ("mmlu/test_half", "choice", 7658),
        ("csqa/dev", "choice", 1221),
        ("xcopa/it_test", "choice", 500),
        ("xcopa/zh_test", "choice", 500),
        ("blimp/half", "pair", 34000),
        ("sugarcrepe/captions", "pair", 2317),
        ("squad2/dev", "labels", 11873),
    ],
)
def test_sets_of_other_forms_are_recognised(
    shared_data: Path, name: str, kind: str, n: int
) -> None:
    dataset: Dataset = read_data(shared_data / f"{name}.jsonl.gz")
    assert dataset.task.kind == kind
    assert len(dataset.examples) + sum(dataset.skipped.values()) == n


def test_measures_need_moved_options() -> None:
    run = audited("uniform", questions(20))
    names = {record.metric for record in run.scores} | {each.metric for each in run.omitted}
    assert not names & {"follows_place", "holds_to_option"}
