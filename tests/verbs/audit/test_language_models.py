"""Audits of language models: prompts, examples and what the run says of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import disorder
from conftest import Command, pairs
from disorder.errors import DisorderError
from disorder.requests.settings import Settings
from disorder.types import Dataset
from disorder.verbs.prompting import bound_prompt

pytest.importorskip("torch", reason="needs torch")
pytest.importorskip("transformers", reason="needs transformers")

SMALL = {"with_": "derange", "q": 3, "limit": 4, "cache": "off"}


@pytest.fixture(scope="module")
def others(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A few pairs to take examples from; the built-in training split is long."""
    path = tmp_path_factory.mktemp("others") / "others.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in pairs(12)), encoding="utf-8")
    return str(path)


@pytest.fixture(scope="module")
def audited(tiny_llama: Path, others: str, tmp_path_factory: pytest.TempPathFactory) -> Any:
    out = tmp_path_factory.mktemp("run") / "run"
    return disorder.audit(
        f"causal:{tiny_llama}",
        "builtin",
        shots=3,
        shots_from=others,
        option_orders=3,
        calibrate="content-free",
        out=out,
        **SMALL,
    )


def test_the_run_says_how_the_model_was_asked(audited: Any) -> None:
    run = disorder.read_run(audited.folder)
    assert run.status == "done"
    assert run.settings["shots"] == 3
    assert run.prompt["name"] == "nli"
    assert run.prompt["label_words"] == {
        "entailment": "yes",
        "neutral": "maybe",
        "contradiction": "no",
    }
    assert run.prompt["rendered"].count("Answer:") == 4
    assert 0 < run.prompt["label_mass"] < 1
    assert 0 <= run.prompt["order_changes"] <= 1
    page = (audited.folder / "report.html").read_text(encoding="utf-8")
    asks = "What is the model given, and how is its answer read?"
    assert f'<details id="prompt"><summary>{asks}</summary>' in page
    assert "The prompt nli for the first example" in page
    assert "of the model&#39;s probability" in page


def test_the_prompt_is_escaped_on_the_page(tiny_llama: Path, tmp_path: Path) -> None:
    rows = [row | {"text_a": "<script>alert(1)</script> " + row["text_a"]} for row in pairs(4)]
    disorder.audit(f"causal:{tiny_llama}", rows, out=tmp_path / "run", **(SMALL | {"limit": None}))
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "<script>" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_examples_are_other_rows_balanced_and_by_seed(jsonl: Callable[..., Path]) -> None:
    data = disorder.read_data("builtin")
    audited = Dataset("builtin", data.task, data.examples[:40], {}, "")

    rows = [
        {"id": e.id, "text_a": e.text_a, "text_b": e.text_b, "label": e.label}
        for e in data.examples[40:200]
    ]
    path = jsonl(rows)

    def shots(**more: Any) -> list[tuple[Any, str]]:
        settings = Settings(shots=6, shots_from=str(path), **more)
        prompt = bound_prompt("causal:x", audited, settings)
        assert prompt is not None
        return [(shot.texts, shot.label) for shot in prompt.shots]

    chosen = shots()
    assert sorted(label for _, label in chosen) == sorted(data.task.labels * 2)
    assert chosen == shots()
    assert chosen != shots(seed=1)
    assert {texts for texts, _ in chosen} <= {(row["text_a"], row["text_b"]) for row in rows}


def test_examples_come_from_the_training_split_unless_told_otherwise() -> None:
    data = disorder.read_data("builtin:sentiment")
    prompt = bound_prompt("causal:x", data, Settings(shots=1))
    assert prompt is not None
    training = {e.texts for e in disorder.read_data("builtin:sentiment:train").examples}
    assert prompt.shots[0].texts in training


def test_rows_that_are_audited_are_never_examples(tmp_path: Path) -> None:
    rows = pairs(30)
    path = tmp_path / "all.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    data = disorder.read_data(path)
    some = Dataset("all", data.task, data.examples[:24], {}, "")
    prompt = bound_prompt("causal:x", some, Settings(shots=6, shots_from=str(path)))
    assert prompt is not None
    left = {example.texts for example in data.examples[24:]}
    assert {shot.texts for shot in prompt.shots} == left
    with pytest.raises(DisorderError, match="has only 6 examples that are not audited"):
        bound_prompt("causal:x", some, Settings(shots=7, shots_from=str(path)))
    with pytest.raises(DisorderError, match="shots: all has no training split here"):
        bound_prompt("causal:x", some, Settings(shots=1))


def test_examples_of_another_kind_are_an_error(tmp_path: Path) -> None:
    path = tmp_path / "single.jsonl"
    path.write_text('{"text_a": "one", "label": "neutral"}\n', encoding="utf-8")
    data = disorder.read_data("builtin")
    with pytest.raises(DisorderError, match="the audited data has pairs of texts"):
        bound_prompt("causal:x", data, Settings(shots=1, shots_from=str(path)))
    path.write_text('{"text_a": "one", "text_b": "two", "label": "x"}\n', encoding="utf-8")
    with pytest.raises(DisorderError, match=r"label 'x' .* is none of entailment"):
        bound_prompt("causal:x", data, Settings(shots=1, shots_from=str(path)))


def test_numbers_outside_of_the_options_are_an_error() -> None:
    rows = [{"text_a": "a b", "text_b": "c d", "label": f"{i}.5"} for i in range(8)]
    data = disorder.read_data(rows)
    with pytest.raises(DisorderError, match=r"label [567]\.5 is outside of the options 0 to 5"):
        bound_prompt("causal:x", data, Settings())
    words = {str(i): str(i) for i in range(9)}
    assert bound_prompt("causal:x", data, Settings(label_words=words)) is not None


def test_prompts_are_for_language_models(command: Command) -> None:
    code, _, err = command("audit", "builtin", "builtin", "--shots", 3, "--chat", "off")
    assert code == 2
    assert err.strip().endswith(
        "--shots, --chat: this model takes no prompt; prompts are for language models (causal:…)"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--calibrate", "full"], "need content-free"),
        (["--chat", "perhaps"], "need auto or on or off"),
        (["--prompt", "nli", "--prompt", "nli"], "need each prompt once"),
        (["--prompt", "nil"], "did you mean 'nli'?"),
        (
            ["--label-words", "entailment"],
            "--label-words entailment: write it as name=name,name=name",
        ),
        (["--option-orders", "7"], "need 1 to 6"),
    ],
)
def test_bad_options_are_one_line(
    options: list[str], message: str, run: Command, tiny_llama: Path
) -> None:
    code, out, err = run("audit", f"causal:{tiny_llama}", "builtin", "--limit", 4, *options)
    assert (code, out) == (2, "")
    assert message in err
    assert len(err.strip().splitlines()) == 1


def test_curtailed_scores_are_those_of_the_full_audit(tiny_llama: Path, others: str) -> None:
    settings = SMALL | {"q": 8, "limit": 8, "score": ["omega_max", "omega_rand"]}
    settings |= {"shots": 2, "shots_from": others}
    full = disorder.audit(f"causal:{tiny_llama}", "builtin", **settings)
    less = disorder.audit(f"causal:{tiny_llama}", "builtin", curtail=True, **settings)
    for name in ("omega_max", "omega_rand"):
        assert less["derange", name].value == full["derange", name].value
    assert less.n_predictions < full.n_predictions


def test_several_prompts_give_the_spread_beside_the_interval(
    tiny_llama: Path, tmp_path: Path
) -> None:
    own = tmp_path / "own.jinja"
    own.write_text("{{ text_a }}\n{{ text_b }}\nTrue?", encoding="utf-8")
    run = disorder.audit(
        f"causal:{tiny_llama}",
        "builtin",
        prompt=["nli", str(own)],
        out=tmp_path / "run",
        **SMALL,
    )
    alone = [
        disorder.audit(f"causal:{tiny_llama}", "builtin", prompt=name, **SMALL)
        for name in ("nli", str(own))
    ]
    [row] = [
        row
        for row in run.prompt_spread
        if (row["transformation"], row["metric"], row["group"]) == ("derange", "accuracy", "all")
    ]
    values = [each["derange", "accuracy"].value for each in alone]
    assert row["values"] == values
    assert (row["low"], row["high"]) == (min(values), max(values))
    assert run["derange", "accuracy"].value == values[0]
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "Over 2 prompts" in page
    assert disorder.read_run(tmp_path / "run" / "prompts" / "2-own").status == "done"


def test_a_repeated_audit_asks_nothing(tiny_llama: Path, others: str, tmp_path: Path) -> None:
    settings = SMALL | {"cache": str(tmp_path / "cache"), "shots": 2, "shots_from": others}
    first = disorder.audit(f"causal:{tiny_llama}", "builtin", **settings)
    again = disorder.audit(f"causal:{tiny_llama}", "builtin", **settings)
    assert first.n_predictions > 0
    assert again.n_predictions == 0
    assert again.scores == first.scores


def test_the_words_of_the_instruction_are_perturbed_and_the_texts_are_not(
    tiny_llama: Path, tmp_path: Path
) -> None:
    run = disorder.audit(
        f"causal:{tiny_llama}", "builtin", on="instruction", out=tmp_path / "run", **SMALL
    )
    assert run.transformations == ["derange:side=a"]
    assert "the word order of the instruction" in run.verdict
    samples = run.samples().to_pylist()
    perturbed = [row for row in samples if row["transformation"] != "original"]
    firsts = {row["written_a"] for row in perturbed}
    assert len(firsts) == SMALL["q"], "one draw for all examples"
    original = prompt_of("causal:x").openings[0][0]
    assert original not in firsts
    assert {tuple(sorted(_words(text))) for text in firsts} == {tuple(sorted(_words(original)))}
    assert all(row["written_b"].startswith("Premise: ") for row in perturbed)


def _words(text: str) -> list[str]:
    return text.lower().replace(",", "").replace(".", "").replace(":", "").split()


def prompt_of(model: str, **settings: Any) -> Any:
    return bound_prompt(model, disorder.read_data("builtin"), Settings(**settings))


def test_predictions_under_a_perturbed_instruction_are_those_of_that_prompt(
    tiny_llama: Path, others: str
) -> None:
    from dataclasses import replace

    from disorder.models import load

    data = disorder.read_data("builtin")
    plain = prompt_of("causal:x", shots=2, shots_from=others)
    [example] = data.examples[:1]
    [question] = plain.questions([example.texts])
    other = replace(question, instruction="premise the given")
    model: Any = load(
        f"causal:{tiny_llama}",
        task=data.task,
        options={"prompt": plain},
    ).predictor
    found = model.predict_segments([{"instruction": "premise the given", "item": question.item}])
    expected = plain.predictions(plain.by_order(model.option_scores([other])))
    assert found == pytest.approx(expected)


def test_the_order_of_examples_and_their_answers_are_perturbed(
    tiny_llama: Path, others: str, tmp_path: Path
) -> None:
    run = disorder.audit(
        f"causal:{tiny_llama}",
        "builtin",
        on="shots",
        shots=3,
        shots_from=others,
        q=10,
        limit=3,
        cache="off",
        out=tmp_path / "run",
    )
    assert run.transformations == ["shuffle_answers", "shuffle_shots"]
    rows = run.samples().to_pylist()
    for name in run.transformations:
        texts = {row["written_a"] for row in rows if row["transformation"] == name}
        assert len(texts) == 5, "all orders of three examples but their own"
    assert "its examples as they are" in run.verdict
    again = disorder.read_run(tmp_path / "run")
    assert again.scores == run.scores


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"on": "shots"}, "the prompt needs two examples or more"),
        (
            {"on": "shots", "shots": 3, "with_": "derange"},
            "takes shuffle_answers and shuffle_s",
        ),
        ({"on": "instruction", "with_": "swap_texts"}, "takes both texts of a pair"),
        ({"on": "instruction", "option_orders": 2}, "leave out option_orders"),
        ({"on": "prompt"}, "no column 'prompt', which a prompt or on names"),
        ({"score": ["order_rank", "p_c"]}, "measure p_c in another audit"),
        ({"score": "order_rank", "shots": 3}, "this model takes no prompt"),
    ],
)
def test_what_cannot_be_perturbed_or_measured_is_one_line(
    settings: dict[str, Any], message: str, tiny_llama: Path
) -> None:
    with pytest.raises(DisorderError) as caught:
        disorder.audit(f"causal:{tiny_llama}", "builtin", limit=4, **settings)
    assert message in str(caught.value)


def test_breaking_a_prompt_needs_a_language_model() -> None:
    with pytest.raises(DisorderError, match="is for language models"):
        disorder.audit("builtin", "builtin", limit=4, on="instruction")


@pytest.mark.parametrize("kind", ["causal", "masked"])
def test_order_rank_is_what_the_likelihoods_say(
    kind: str, tiny_llama: Path, tiny_masked: Path, tmp_path: Path
) -> None:
    from disorder.models import load

    folder = tiny_llama if kind == "causal" else tiny_masked
    settings = SMALL | {"with_": ["derange", "sort"], "score": "order_rank"}
    run = disorder.audit(f"{kind}:{folder}", "builtin", out=tmp_path / "run", **settings)
    score = run["derange", "order_rank"]
    assert score.n == SMALL["limit"]
    task = run.full_task
    assert task.is_likelihood
    model = load(f"{kind}:{folder}", task=task)
    rows = [row for row in run.samples().to_pylist() if row["transformation"] == "derange"]
    examples = {e.id: e for e in disorder.read_data("builtin").examples}
    texts = disorder.perturb("builtin", with_="derange", q=SMALL["q"], limit=SMALL["limit"])
    original = {row["example"]: model([examples[row["example"]].texts])[0, 0] for row in rows}
    wins = [model([(t["text_a"], t["text_b"])])[0, 0] < original[t["id"]] for t in texts]
    assert score.value == pytest.approx(sum(wins) / len(wins))
    assert "another order (derange)" in run.verdict
    assert (tmp_path / "run" / "report.html").exists()
    assert not [record for record in run.scores if record.metric != "order_rank"]


@pytest.mark.parametrize("model", [len, "openai:x@http://127.0.0.1:1/v1"])
def test_order_rank_needs_a_model_of_texts(model: Any) -> None:
    with pytest.raises(DisorderError, match="likelihood of a text"):
        disorder.audit(model, "builtin", limit=4, score="order_rank")
