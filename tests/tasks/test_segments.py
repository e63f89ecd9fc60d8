"""Segments: any named part of an input can be perturbed and used in a prompt."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import disorder
from disorder.data import read_data
from disorder.errors import BadData, BadSetting, DisorderError
from disorder.models import load
from disorder.models.inputs.variants import variant_segments
from disorder.models.prompting import prompt_for
from disorder.store.sample_parts import SampleParts, read_examples, write_examples
from disorder.transformations import parse
from disorder.transformations.rendering import variant_texts
from disorder.types import Example, Task

CHOICE = {
    "question": "Which animal barks at night ?",
    "options": ["the cat", "the dog", "the cow"],
    "answer": "B",
    "context": "A dog barks when it hears a noise .",
}
NLI = Task("nli", ("yes", "no"), "b")
PAIR = Example.of("x", "one two three four", "five six seven eight", "yes")


def texts(spec: str, example: Example = PAIR, q: int = 3) -> list[Any]:
    return variant_texts(parse(spec).apply(example, task=NLI, q=q, seed=1))


@pytest.mark.parametrize(
    ("now", "before"),
    [
        ("derange:on=text_b", "derange:side=b"),
        ("shuffle_ngrams:on=text_b+text_a", "shuffle_ngrams:side=both"),
        ("derange:on=text_a+text_b", "derange"),
        ("drop_text:on=text_b", "drop_text:side=b"),
    ],
)
def test_a_segment_is_drawn_as_the_side_of_before(now: str, before: str) -> None:
    assert texts(now) == texts(before)
    assert parse(before).spec == before


def test_specs_name_their_segments() -> None:
    assert parse("derange:on=text_b").spec == "derange:on=text_b"
    assert parse("derange:on=text_a+text_b").spec == "derange"
    assert (
        parse("derange:on=context+reverse:on=context").spec
        == "derange:on=context+reverse:on=context"
    )
    for wrong in ("derange:on=a+b+c", "derange:on=x,side=a", "swap_texts:on=context"):
        with pytest.raises(BadSetting):
            parse(wrong)
    with pytest.raises(BadSetting, match="same segment"):
        parse("derange:on=context+reverse")


def test_words_of_texts_move_and_items_of_lists() -> None:
    [example] = read_data([CHOICE], language="en").examples
    assert set(example.segments) == {"question", "options", "context"}
    for name, unit in (("context", str), ("options", tuple)):
        [first, *_] = variant_segments(
            parse(f"derange:on={name}").apply(example, task=NLI, q=2, seed=0)
        )
        assert isinstance(first[name], unit)
        assert first[name] != example.segments[name]
        assert sorted(first[name]) == sorted(example.segments[name])
        assert {k: v for k, v in first.items() if k != name} == {
            k: v for k, v in example.segments.items() if k != name
        }


def test_an_audit_perturbs_the_segment_that_is_named(tmp_path: Path) -> None:
    rows = [
        {
            **CHOICE,
            "id": f"{i}",
            "context": f"line {i} says that a dog barks at once .",
            "answer": i % 3,
        }
        for i in range(12)
    ]
    seen: list[dict[str, Any]] = []

    def first(given: list[dict[str, Any]]) -> list[int]:
        seen.extend(given)
        return [0] * len(given)

    run = disorder.audit(
        first, rows, on="context", with_=["reverse", "reverse:on=question"], q=1, out=tmp_path / "a"
    )
    assert "reverse:on=context" in run.transformations
    assert "reverse:on=question" in run.transformations
    moved = [
        each for each in seen if each["context"].startswith(".") or "barks dog" in each["context"]
    ]
    assert moved
    assert {each["question"] for each in moved} == {CHOICE["question"]}
    table = SampleParts.open(tmp_path / "a", to_write=False).table()
    assert {"context", "question"} <= set(table["segment"].cast(pa.string()).to_pylist())
    with pytest.raises(DisorderError, match="have no passages; they have question"):
        disorder.audit(first, rows, on="passages", out=tmp_path / "b")


def test_examples_of_any_segments_are_read_back_and_those_of_before(tmp_path: Path) -> None:
    examples = read_data([CHOICE], language="en").examples
    write_examples(tmp_path, examples)
    assert read_examples(tmp_path) == list(examples)
    before = {
        "id": ["x"],
        "text_a": ["q"],
        "text_b": pa.array([None], pa.string()),
        "label": ["B"],
        "groups": pa.array([[]], pa.map_(pa.string(), pa.string())),
        "options": [["u", "v"]],
        "ask": [""],
    }
    pq.write_table(pa.table(before), tmp_path / "examples.parquet")
    [old] = read_examples(tmp_path)
    assert old.options == ("u", "v")
    assert old.texts == ("q", None)
    pq.write_table(
        pa.table({**before, "segments": ["["], "on": [["x"]]}), tmp_path / "examples.parquet"
    )
    with pytest.raises(BadData, match="segments cannot be read"):
        read_examples(tmp_path)


TEMPLATE = """{% block system %}You know films.{% endblock %}
{% block instruction %}Choose one of {{ options | join(", ") }}.{% endblock %}
Genre: {{ genre }}
Review: {{ text_a }}
Answer:"""


def reviews(n: int = 6) -> list[dict[str, Any]]:
    return [
        {
            "text": f"a fine film number {i} it is",
            "label": "good" if i % 2 else "bad",
            "genre": f"g{i}",
        }
        for i in range(n)
    ]


def test_a_template_uses_any_column_and_a_system_message(tiny_llama: Path, tmp_path: Path) -> None:
    file = tmp_path / "prompt.txt"
    file.write_text(TEMPLATE)
    run = disorder.audit(
        f"causal:{tiny_llama}",
        reviews(),
        prompt=[str(file)],
        with_="reverse",
        q=1,
        chat="off",
        cache="off",
        out=tmp_path / "run",
    )
    rendered = run.prompt["rendered"]
    assert rendered.startswith("You know films.\n\nChoose one of bad, good.\n\nGenre: g")
    without = [{k: v for k, v in row.items() if k != "genre"} for row in reviews()]
    with pytest.raises(BadData, match="no column 'genre'"):
        disorder.audit(f"causal:{tiny_llama}", without, prompt=[str(file)], out=tmp_path / "none")
    moved = disorder.audit(
        f"causal:{tiny_llama}",
        reviews(),
        prompt=[str(file)],
        with_="reverse",
        on="system",
        chat="off",
        cache="off",
        out=tmp_path / "system",
    )
    assert moved.score("reverse:side=a", "agreement") is not None


def test_the_system_block_is_a_message_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "prompt.txt"
    file.write_text(TEMPLATE.replace("Genre: {{ genre }}\n", ""))
    prompt = prompt_for(Task("films", ("bad", "good")), name=str(file), is_pair=False)
    [question] = prompt.questions([("dull", None)])
    assert question.messages == [
        {"role": "system", "content": "You know films."},
        {"role": "user", "content": "Choose one of bad, good.\n\nReview: dull\nAnswer:"},
    ]
    assert question.text == "You know films.\n\nChoose one of bad, good.\n\nReview: dull\nAnswer:"
    merged = question.without_system.messages
    assert [turn["role"] for turn in merged] == ["user"]
    assert merged[0]["content"] == question.text


def test_a_classifier_says_that_it_takes_no_other_segments(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    rows = [json.dumps({**row, "context": "it rained"}) for row in reviews()]
    file.write_text("\n".join(rows))
    with pytest.raises(DisorderError, match="takes one text or a pair, not segments named"):
        disorder.audit("always:good", str(file), on="context", out=tmp_path / "a")


def test_a_choice_is_asked_under_a_perturbed_instruction(tiny_llama: Path, tmp_path: Path) -> None:
    rows = [{**CHOICE, "id": f"{i}", "question": f"Which animal {i} barks ?"} for i in range(6)]
    run = disorder.audit(
        f"causal:{tiny_llama}",
        rows,
        on="instruction",
        with_="reverse",
        q=1,
        chat="off",
        cache="off",
        out=tmp_path / "run",
    )
    assert run.score("reverse:side=a", "agreement") is not None
    assert CHOICE["context"] in run.prompt["rendered"]
    task = read_data(rows, language="en").task
    asked = load(f"causal:{tiny_llama}", task=task).prompt_description(
        read_data(rows, language="en").examples[0].segments
    )
    assert "A. the cat" in asked["rendered"]


QUESTIONS = [
    {
        "id": f"{i:02}",
        "question": f"Who built house number {i} in the old town ?",
        "context": f"In the old town {name} built house number {i} long ago .",
        "answers": [name, f"the mason {name}"],
    }
    for i, name in enumerate(["Ada", "Ben", "Cleo", "Dora", "Emil", "Finn"] * 8)
]


def reader(given: list[dict[str, Any]]) -> list[str]:
    """Answers where the question stands in its order."""
    words = [each["question"].lower().split() for each in given]
    known = {each["question"].lower(): each["answers"][0] for each in QUESTIONS}
    found = [known.get(" ".join(each)) for each in words]
    assert "answers" not in given[0]
    return [f"It was {name}." if name else "nobody" for name in found]


@pytest.mark.parametrize(("match", "value"), [("contains", 1.0), ("exact", 0.0), ("f1", 0.5)])
def test_open_answers_are_scored_as_is_asked(match: str, value: float, tmp_path: Path) -> None:
    data = read_data(QUESTIONS, language="en")
    assert (data.task.kind, data.examples[0].on) == ("text", ("question",))
    run = disorder.audit(
        reader, QUESTIONS, match=match, with_="reverse", q=1, out=tmp_path / "run", cache="off"
    )
    assert run["original", "accuracy"].value == pytest.approx(value)
    assert run["reverse", "accuracy"].value == 0
    # the answer to another question: six names in turn, so that the next three are wrong
    assert run.chance == pytest.approx(0 if match != "f1" else run.chance)
    again = disorder.read_run(tmp_path / "run")
    assert again.full_task == run.full_task


def test_a_reader_of_questions_is_said_to_read_and_a_bag_of_words_not(tmp_path: Path) -> None:
    def bag(given: list[dict[str, Any]]) -> list[str]:
        known = {
            frozenset(each["question"].lower().split()): each["answers"][0] for each in QUESTIONS
        }
        return [known[frozenset(each["question"].lower().split())] for each in given]

    kinds = {}
    for model in (reader, bag):
        run = disorder.audit(
            model,
            QUESTIONS,
            match="contains",
            with_="derange",
            q=3,
            cache="off",
            out=tmp_path / model.__name__,
        )
        assert run.conclusion is not None
        kinds[model.__name__] = run.conclusion.kind
    assert kinds == {"reader": "reads_order", "bag": "order_not_used"}


def test_a_function_of_the_users_scores_answers(tmp_path: Path) -> None:
    file = tmp_path / "judge.py"
    file.write_text("def judge(answer, gold):\n    return 0.25 if gold[0] in answer else 0\n")
    run = disorder.audit(
        reader,
        QUESTIONS,
        match=f"{file}:judge",
        with_="reverse",
        q=1,
        out=tmp_path / "run",
        cache="off",
    )
    assert run["original", "accuracy"].value == pytest.approx(0.25)
    for score in (0.25, 0.5):  # a function that is called as one of ours, and is edited
        file = tmp_path / f"by{score}.py"
        file.write_text(f"def f1(answer, gold):\n    return {score} if gold[0] in answer else 0\n")
        again = disorder.audit(
            reader, QUESTIONS, match=f"{file}:f1", with_="reverse", q=1, cache=tmp_path / "cache"
        )
        assert again["original", "accuracy"].value == pytest.approx(score)
    with pytest.raises(DisorderError, match="match"):
        disorder.audit(reader, QUESTIONS, match="nearly", out=tmp_path / "none")


def test_a_language_model_writes_its_answers(tiny_llama: Path, tmp_path: Path) -> None:
    run = disorder.audit(
        f"causal:{tiny_llama}",
        QUESTIONS[:6],
        with_="reverse",
        q=1,
        shots=1,
        cache="off",
        shots_from=_written(tmp_path, QUESTIONS[10:16]),
        out=tmp_path / "run",
        chat="off",
    )
    asked = run.prompt["rendered"]
    assert asked.startswith("Answer the question in a few words.")
    assert asked.count("Question: ") == 2
    assert asked.rstrip().endswith("in the old town ?\nAnswer:")
    with pytest.raises(DisorderError, match="open answers need a language model"):
        disorder.audit("uniform", QUESTIONS, out=tmp_path / "none")


def _written(folder: Path, rows: list[dict[str, Any]]) -> str:
    file = folder / "rows.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    return str(file)


def test_two_readings_are_an_error_that_names_both() -> None:
    rows = [{**QUESTIONS[0], "label": "easy"}, {**QUESTIONS[1], "label": "hard"}]
    with pytest.raises(BadData, match=r"task=.labels.* or .*task=.text"):
        read_data(rows)
    assert read_data(rows, task="text", language="en").task.kind == "text"
    assert read_data(rows, task="labels", language="en").task.labels == ("easy", "hard")
    squad = {**QUESTIONS[0], "answers": {"text": ["Ada"], "answer_start": [16]}}
    assert read_data([squad], language="en").task.labels[0] == "answerable"
    assert read_data([squad], task="text", language="en").task.kind == "text"


def test_answers_are_read_however_they_are_laid_out(caplog: pytest.LogCaptureFixture) -> None:
    for given, texts in (
        ({"value": "Ada", "aliases": ["Ada", "A. L."], "type": "Person"}, ("Ada", "Ada", "A. L.")),
        ({"spans": ["1815", "1852"], "types": ["date", "date"]}, ("1815", "1852")),
    ):
        [example] = read_data([{"question": "Who?", "answer": given}], language="en").examples
        assert example.segments["answers"] == texts
    for gap in (float("nan"), None, ["", float("nan")]):
        found = read_data(
            [QUESTIONS[0], {"id": "2", "question": "Who?", "answers": gap}], task="text"
        )
        assert [len(found.examples), *found.skipped.values()] == [1, 1]
    marked = [{"text": "Ada", "correct": True}, {"text": "A. L.", "correct": True}]
    with pytest.raises(BadData, match="answers must be texts, got an object with text, correct"):
        read_data([{"question": "Who?", "answers": marked}])
    squad = {**QUESTIONS[0], "answers": {"text": ["Ada"], "answer_start": [16]}}
    read_data([squad, {**squad, "id": "2", "question": "Who was it that wrote this?"}])
    assert "not read" not in caplog.text


def test_likelihoods_need_no_labels(tiny_llama: Path, tmp_path: Path) -> None:
    rows = [{"text": f"the cat number {i} saw a dog"} for i in range(8)]
    with pytest.raises(BadData, match="likelihood"):
        read_data(rows)
    for given in ({"task": "likelihood"}, {"score": "order_rank"}):
        run = disorder.audit(
            f"causal:{tiny_llama}",
            rows,
            with_="derange",
            q=2,
            cache="off",
            out=tmp_path / next(iter(given)),
            **given,
        )
        assert run["derange", "order_rank"].n == 8
