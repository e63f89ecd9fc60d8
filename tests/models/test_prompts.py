"""Prompts: templates in a sandbox, label words, examples, orders of the options."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from conftest import NLI
from disorder.data import known_tasks
from disorder.errors import BadSetting, DisorderError, UnknownName
from disorder.models.prompting import Prompt, PromptedModel, Question, Shot, findings, prompt_for
from disorder.models.prompting.template import PromptTemplate
from disorder.registry import PromptPart, parts
from disorder.types import Floats, Task, text_segments

PAIR = ("A man sleeps.", "A man is awake.")
SHOT = Shot(("It rains.", "It is dry."), "contradiction")


def of_template(source: str, **more: object) -> Prompt:
    template = PromptTemplate("mine", source)
    return Prompt(template, NLI.labels, ("yes", "maybe", "no"), True, **more)  # type: ignore[arg-type]


def test_the_text_stands_last_and_the_rest_is_the_same_for_all() -> None:
    prompt = prompt_for(NLI, is_pair=True, shots=[SHOT])
    [first, second] = prompt.questions([PAIR, ("Other.", "Words.")])
    assert (first.instruction, first.shots) == (second.instruction, second.shots)
    assert first.text == (
        "Decide whether the hypothesis is true, given the premise. "
        "Answer with one of: yes, maybe, no.\n\n"
        "Premise: It rains.\nHypothesis: It is dry.\nAnswer: no\n\n"
        "Premise: A man sleeps.\nHypothesis: A man is awake.\nAnswer:"
    )
    assert first.options == ("yes", "maybe", "no")


def test_messages_hold_the_same_and_need_no_system_role() -> None:
    [question] = prompt_for(NLI, is_pair=True, shots=[SHOT]).questions([PAIR])
    assert [turn["role"] for turn in question.messages] == ["user", "assistant", "user"]
    contents = [turn["content"] for turn in question.messages]
    assert contents[0].startswith("Decide whether")
    assert contents[1] == "no"
    assert contents[2].endswith("Hypothesis: A man is awake.\nAnswer:")


@pytest.mark.parametrize(
    ("task", "is_pair", "name", "words"),
    [
        ("mnli", True, "nli", ("yes", "maybe", "no")),
        ("rte", True, "nli", ("yes", "no")),
        ("qnli", True, "answering", ("yes", "no")),
        ("qqp", True, "paraphrase", ("no", "yes")),
        ("mrpc", True, "paraphrase", ("no", "yes")),
        ("sst2", False, "sentiment", ("negative", "positive")),
        ("cola", False, "acceptability", ("no", "yes")),
        ("stsb", True, "similarity", tuple("012345")),
        ("squad2", True, "labelled", ("answerable", "unanswerable")),
    ],
)
def test_the_task_chooses_its_prompt(
    task: str, is_pair: bool, name: str, words: tuple[str, ...]
) -> None:
    prompt = prompt_for(known_tasks()[task], is_pair=is_pair)
    assert (prompt.name, prompt.words) == (name, words)
    [question] = prompt.questions([("one text", "another" if is_pair else None)])
    assert "one text" in question.text
    assert question.text.endswith("Answer:")
    assert all(word in question.instruction for word in words)


def test_every_registered_prompt_can_be_filled_in() -> None:
    for entry in parts(PromptPart).values():
        template = PromptTemplate(entry.name, entry.function())
        options = list(entry.words.values()) or ["x", "y"]
        given = text_segments(("TEXT", "OTHER" if entry.texts == 2 else None))
        item = template.item({**given, "question": "TEXT"}, options)
        # options that are likely after the question, and not shown, need no instruction
        assert bool(template.instruction(options)) == (entry.name != "continuation")
        assert "TEXT" in item
        if entry.name == "choice":
            assert "x\ny" in item, "a question's own options stand with it"


def test_a_text_is_never_code() -> None:
    hostile = "{{ options }} {% raw %} {{ ''.__class__ }}"
    [question] = of_template("{{ text_a }} {{ text_b }}").questions([(hostile, hostile)])
    assert question.item == f"{hostile} {hostile}"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("{{ text_a ", r"prompt mine, line 1: unexpected end of template"),
        ("\n{% if %}{{ text_a }}", r"prompt mine, line 2: "),
        ("{{ text_a }} {{ text_c }}", r"unknown variable in the prompt mine 'text_c'; did you"),
        ("Say yes or no.", r"prompt mine: the template never uses text_a"),
    ],
)
def test_a_mistake_in_a_template_is_one_line(source: str, message: str) -> None:
    with pytest.raises(DisorderError, match=message) as caught:
        PromptTemplate("mine", source)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "expression",
    ["text_a.__class__.__mro__", "text_a.nothing.more", "text_a + 1", "1 // 0", "options[7]"],
)
def test_what_fails_when_filled_in_is_one_line(expression: str) -> None:
    template = PromptTemplate("mine", "{{ text_a }} {{ " + expression + " }}")
    with pytest.raises(DisorderError, match=r"^prompt mine cannot be filled in: [^\n]+$"):
        template.item({"text_a": "a"}, ["yes", "no"])


def test_an_instruction_that_needs_the_text_is_an_error() -> None:
    source = "{% block instruction %}{{ text_a }}{% endblock %} {{ text_a }}"
    with pytest.raises(DisorderError, match="'text_a' is undefined"):
        PromptTemplate("mine", source).instruction(["yes"])


def test_a_file_is_a_prompt_with_the_labels_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "mine.jinja"
    path.write_text("{{ text_a }} / {{ text_b }} / {{ options | join('|') }}:", encoding="utf-8")
    prompt = prompt_for(known_tasks()["rte"], is_pair=True, name=str(path))
    [question] = prompt.questions([PAIR])
    assert question.text == "A man sleeps. / A man is awake. / entailment|not entailment:"


def test_names_and_words_that_cannot_be_meant() -> None:
    with pytest.raises(UnknownName, match=r"unknown prompt .* 'nlli'; did you mean 'nli'"):
        prompt_for(NLI, is_pair=True, name="nlli")
    with pytest.raises(UnknownName, match="'entailmen'; did you mean 'entailment'"):
        prompt_for(NLI, is_pair=True, label_words={"entailmen": "yes"})
    with pytest.raises(DisorderError, match="entailment and neutral have the same word 'Maybe'"):
        prompt_for(NLI, is_pair=True, label_words={"entailment": "maybe", "neutral": "Maybe"})
    with pytest.raises(DisorderError, match="prompt sentiment: the data has pairs"):
        prompt_for(NLI, is_pair=True, name="sentiment")


def test_label_words_replace_some_of_the_usual_ones() -> None:
    prompt = prompt_for(NLI, is_pair=True, label_words={"neutral": "unclear"}, shots=[SHOT])
    assert prompt.words == ("yes", "unclear", "no")


def test_orders_are_distinct_and_balanced_first() -> None:
    prompt = prompt_for(NLI, is_pair=True, option_orders=3)
    assert {listing[0] for listing in prompt.listings} == {"yes", "maybe", "no"}
    assert len(set(prompt_for(NLI, is_pair=True, option_orders=6).listings)) == 6
    with pytest.raises(BadSetting, match="need 1 to 6"):
        prompt_for(NLI, is_pair=True, option_orders=7)
    with pytest.raises(BadSetting, match="numbers have an order"):
        prompt_for(known_tasks()["stsb"], is_pair=True, option_orders=2)


def test_whatever_changes_a_prediction_changes_the_fingerprint() -> None:
    plain = prompt_for(NLI, is_pair=True)
    others = [
        prompt_for(NLI, is_pair=True, shots=[SHOT]),
        prompt_for(NLI, is_pair=True, label_words={"neutral": "unclear"}),
        prompt_for(NLI, is_pair=True, option_orders=2),
        prompt_for(NLI, is_pair=True, calibrate="content-free"),
        prompt_for(NLI, is_pair=True, chat="off"),
        prompt_for(NLI, is_pair=True, name="paraphrase"),
    ]
    assert len({plain.fingerprint, *(other.fingerprint for other in others)}) == 1 + len(others)
    assert prompt_for(NLI, is_pair=True).fingerprint == plain.fingerprint


def test_a_prompt_can_be_sent_to_a_worker() -> None:
    prompt = prompt_for(NLI, is_pair=True, shots=[SHOT], option_orders=2)
    prompt.questions([PAIR])
    again = pickle.loads(pickle.dumps(prompt))
    assert again.questions([PAIR]) == prompt.questions([PAIR])


class Listener(PromptedModel):
    """Says the option that is listed first with 0.6, and something else with half of the rest."""

    def option_scores(self, questions: Sequence[Question], /) -> Floats:
        rows = []
        for question in questions:
            listing = question.instruction.rpartition(": ")[2].rstrip(".").split(", ")
            rows.append([0.6 if word == listing[0] else 0.1 for word in question.options])
        return np.log(np.array(rows))


def test_orders_are_averaged_and_the_bias_is_told() -> None:
    model = Listener(prompt_for(NLI, is_pair=True, option_orders=3), "listener")
    predictions = model([PAIR, PAIR])
    np.testing.assert_allclose(predictions, np.full((2, 3), 1 / 3))
    found = findings(model.counts)
    assert found["label_mass"] == pytest.approx(0.8)
    assert found["order_changes"] == 1.0
    assert found["first_listed"] == pytest.approx(0.75)
    assert found["last_listed"] == pytest.approx(0.125)


def test_a_word_that_begins_with_another_is_not_counted_twice() -> None:
    words = {"entailment": "no", "neutral": "no idea", "contradiction": "never"}

    class Sure(PromptedModel):
        def option_scores(self, questions: Sequence[Question], /) -> Floats:
            return np.log(np.array([[0.7, 0.6, 0.3]] * len(questions)))

    model = Sure(prompt_for(NLI, is_pair=True, label_words=words), "sure")
    model([PAIR])
    assert findings(model.counts)["label_mass"] == pytest.approx(1.0)


def test_one_order_shows_the_bias_and_calibration_takes_it_away() -> None:
    biased = Listener(prompt_for(NLI, is_pair=True), "listener")([PAIR])
    np.testing.assert_allclose(biased, [[0.75, 0.125, 0.125]])
    prompt = prompt_for(NLI, is_pair=True, calibrate="content-free")
    np.testing.assert_allclose(Listener(prompt, "listener")([PAIR]), np.full((1, 3), 1 / 3))


class Silent(PromptedModel):
    """Gives no option any probability for texts that begin with a question mark."""

    may_abstain = True

    def option_scores(self, questions: Sequence[Question], /) -> Floats:
        return np.array(
            [[-np.inf] * 3 if "Premise: ?" in q.item else [0.0, -1.0, -1.0] for q in questions]
        )


def test_a_row_without_any_option_is_an_abstention() -> None:
    model = Silent(prompt_for(NLI, is_pair=True), "silent")
    assert model.labels == (*NLI.labels, "invalid")
    answered, silent = model([PAIR, ("?", "?")])
    assert answered.argmax() == 0
    assert silent.tolist() == [0.0, 0.0, 0.0, 1.0]


def test_numbers_are_predicted_as_their_mean() -> None:
    stsb = known_tasks()["stsb"]

    class Halves(PromptedModel):
        def option_scores(self, questions: Sequence[Question], /) -> Floats:
            return np.log(np.array([[0.5, 0, 0, 0, 0, 0.5]] * len(questions)) + 1e-30)

    prompt = prompt_for(stsb, is_pair=True, shots=[Shot(PAIR, "3.8")])
    assert Halves(prompt, "x")([PAIR])[0] == pytest.approx(2.5)
    assert prompt.questions([PAIR])[0].shots[0][1] == "4"
    own = prompt_for(stsb, is_pair=True, label_words={"0": "none", "5": "all"})
    assert own.numbers == (0.0, 5.0)


def test_a_task_without_data_gets_a_prompt_too() -> None:
    assert prompt_for(Task("x", ("p", "q"))).name == "labelled"
    assert prompt_for(NLI).is_pair


ROUNDS = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"


@pytest.mark.parametrize(
    "source",
    [
        "{{ text_a }}" + ROUNDS,
        "{% block instruction %}" + ROUNDS + "{% endblock %}{{ text_a }}",
        "{% for a in text_a %}{% for b in text_a %}{% for c in text_a %}{% endfor %}{% endfor %}"
        "{% endfor %}",
        "{% macro m(n) %}{% if n %}{{ m(n-1) }}{{ m(n-1) }}{% endif %}{% endmacro %}{{ text_a }}"
        "{{ m(60) }}",
        "{% for a in text_a recursive %}{{ loop(text_a) }}{% endfor %}",
        "{{ text_a }}{% include 'whole' %}",
        "{% for i in range(50000) %}{{ text_a }}{% endfor %}",
    ],
    ids=["loops", "instruction", "letters", "macros", "recursion", "include", "length"],
)
def test_a_template_that_does_not_end_is_one_line(source: str) -> None:
    template = PromptTemplate("mine", source)

    def filled_in() -> None:
        template.instruction(["yes", "no"])
        template.item({"text_a": "one two three " * 100}, ["yes", "no"])

    with pytest.raises(DisorderError, match=r"^prompt mine cannot be filled in: "):
        filled_in()


DOUBLING = (
    "{%% set n = namespace(a='xx') %%}{%% for i in range(99) %%}{%% set n.a = %s %%}{%% endfor %%}"
)


@pytest.mark.parametrize(
    "source",
    [
        "{{ 'x' * 10**10 }}",
        "{{ ([0] * 10**9) | length }}",
        "{{ 10 ** (10 ** 8) }}",
        "{{ 'a' | center(10**9) }}",
        "{{ 'a'.ljust(10**9) }}",
        "{{ '%1000000000d' % 1 }}",
        "{{ '%*d' % (10**9, 1) }}",
        "{{ '%1000000000d' | format(1) }}",
        "{{ '{:1000000000}'.format(1) }}",
        "{{ (['x' * 9000000] * 4) | join | length }}",
        "{{ ['', '', ''] | join('x' * 9000000) | length }}",
        "{{ ''.join(['x' * 9000000] * 4) | length }}",
        "{{ ('x' * 9000000).join(['', '', '']) | length }}",
        "{{ ([1, 2] | map('replace', 1, 'x' * 9000000)) | join | length }}",
        "{{ 'aaaa' | replace('a', 'x' * 9000000) | length }}",
        "{{ 'aaaa'.replace('a', 'x' * 9000000) | length }}",
        "{{ 'aaaa'.translate({97: 'x' * 9000000}) | length }}",
        "{{ ('%s' * 4) | format(*(['x' * 9000000] * 4)) | length }}",
        "{{ (('%s' * 2) % ('x' * 9000000, 'x' * 9000000)) | length }}",
        "{{ ('{0}' * 4).format('x' * 9000000) | length }}",
        "{{ ('\\t' * 4).expandtabs(9000000) | length }}",
        "{{ ('a\\n' * 4) | indent(9000000) | length }}",
        "{{ (['x' * 9000000] * 4) | string | length }}",
        "{{ ((['x' * 9000000] * 4) ~ '') | length }}",
        DOUBLING % "n.a ~ n.a",
        DOUBLING % "n.a + n.a",
        DOUBLING % "n.a * 2",
    ],
)
def test_a_template_that_would_fill_memory_is_one_line(source: str) -> None:
    """Some did so while they were compiled."""
    with pytest.raises(DisorderError, match=r"longer than|more than"):
        PromptTemplate("mine", "{{ text_a }}" + source).item({"text_a": "one"}, ["yes"])


def test_what_is_computed_is_as_in_jinja() -> None:
    source = (
        "{{ text_a ~ '/' ~ 2 }} {{ 3 * 4 + 2 ** 5 }} {{ '%05.1f' % 2 }} {{ 'a' * 3 }}"
        "{{ [1] + [2] }}"
    )
    assert PromptTemplate("mine", source).item({"text_a": "one"}, []) == (
        "one/2 44 002.0 aaa[1, 2]"
    )


def test_what_is_put_together_is_as_in_jinja() -> None:
    source = (
        "{{ ['a', 'b'] | join(', ') }} {{ rows | join('+', attribute='x') }} {{ '-'.join('ab') }} "
        "{{ rows | map(attribute='x') | join }} {{ 'hello' | replace('l', 'L', 1) }} "
        "{{ ('ab' * 9000) | replace('a', 'cc') | length }} {{ 'a b'.replace(' ', '') }} "
        "{{ '{}/{}'.format('a', 3) }} {{ '%s=%d' | format('a', 3) }}"
    )
    template = PromptTemplate(
        "mine", "{% set rows = [{'x': 1}, {'x': 2}] %}{{ text_a }}: " + source
    )
    assert template.item({"text_a": "one"}, []) == "one: a, b 1+2 a-b 12 heLlo 27000 ab a/3 a=3"


def test_loops_that_end_are_as_in_jinja() -> None:
    source = (
        "{% for word in text_a.split() %}{{ loop.index }}/{{ loop.length }} {{ word }}"
        "{% if not loop.last %}, {% endif %}{% else %}none{% endfor %}|"
        "{% for name, n in {'a': 1}.items() if n %}{{ name }}={{ n }}{% endfor %}"
    )
    template = PromptTemplate("mine", source)
    assert template.item({"text_a": "one two"}, []) == "1/2 one, 2/2 two|a=1"
    assert template.item({"text_a": ""}, []) == "none|a=1"
