"""Causal language models: shared keys and values give what plain passes over whole prompts give."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import disorder.models.causal as causal_models
from conftest import NLI
from disorder.errors import BadModel
from disorder.models import load
from disorder.models.causal import CausalModel
from disorder.models.causal_network import CausalNetwork
from disorder.models.inputs.prompt_tokens import Stem, common_length, prompt_tokens
from disorder.models.prompting import Prompt, Shot, prompt_for
from disorder.types import Texts

torch = pytest.importorskip("torch", reason="needs torch")
pytest.importorskip("transformers", reason="needs transformers")

SHOTS = [
    Shot(("the dog saw a cat .", "a cat saw the dog ."), "neutral"),
    Shot(("it rains .", "it is dry ."), "contradiction"),
]
TEXTS: list[Texts] = [
    ("the old man saw the dog .", "the dog saw the old man ."),
    ("old the man dog the saw .", "man old the saw dog the ."),
    ("ant bee", "cat dog eel fox gnu"),
    ("the old man saw the dog .", "dog the saw man old the ."),
    ("", ""),
    ("(!) 12", "👩‍👩‍👧 ... \n\n x"),
]


@pytest.fixture(scope="module", autouse=True)
def _loaded_once() -> Iterator[None]:
    """Files are read once per folder; every model has a network object of its own."""
    with pytest.MonkeyPatch.context() as patch:
        kept = lru_cache(causal_models.loaded_network)
        patch.setattr(causal_models, "loaded_network", lambda *given: deepcopy(kept(*given)))
        yield


def model_of(folder: Path, **more: Any) -> CausalModel:
    prompt = prompt_for(NLI, is_pair=True, shots=SHOTS, **more)
    found = load(f"causal:{folder}", task=NLI, options={"prompt": prompt}).predictor
    assert isinstance(found, CausalModel)
    return found


def plain_scores(model: CausalModel, texts: list[Texts]) -> np.ndarray[Any, Any]:
    """One full pass per prompt and option, as lm-evaluation-harness does it."""
    tokenizer = model.network.tokenizer
    special = not model.is_chat
    rows = []
    for question in model.prompt.questions(texts):
        context = model.rendered(question)
        before = "" if model.is_chat else " "
        alone = context.rstrip()
        n_context = len(tokenizer(alone, add_special_tokens=special)["input_ids"])
        row = []
        for option in question.options:
            whole = tokenizer(context + before + option, add_special_tokens=special)["input_ids"]
            with torch.inference_mode():
                logits = model.network.network(torch.tensor([whole])).logits[0]
            logp = torch.log_softmax(logits.float(), dim=-1)
            row.append(sum(float(logp[i - 1, whole[i]]) for i in range(n_context, len(whole))))
        rows.append(row)
    return np.array(rows)


WORDS = {
    "usual": {},
    "several tokens": {
        "entailment": "certainly it is",
        "neutral": "who knows?",
        "contradiction": "n",
    },
    "one begins another": {"entailment": "no", "neutral": "no idea", "contradiction": "nobody"},
}


@pytest.mark.parametrize("kind", ["tiny_llama", "tiny_chat"])
@pytest.mark.parametrize("words", WORDS)
def test_shared_prefixes_and_answers_give_what_plain_passes_give(
    kind: str, words: str, request: pytest.FixtureRequest
) -> None:
    orders = 2 if words == "usual" else 1
    model = model_of(request.getfixturevalue(kind), label_words=WORDS[words], option_orders=orders)
    assert model.network.shares_stem
    texts = TEXTS if kind == "tiny_llama" else TEXTS[3:]
    found = model.option_scores(model.prompt.questions(texts))
    np.testing.assert_allclose(found, plain_scores(model, texts), atol=1e-4)
    assert len(np.unique(found.round(6), axis=0)) == len(found), "a test that tells prompts apart"


def test_the_shared_part_is_nearly_all_of_the_opening(tiny_llama: Path) -> None:
    model = model_of(tiny_llama)
    [question] = model.prompt.questions(TEXTS[:1])
    opening = question.text[: question.text.rindex("Premise: ") + len("Premise:")]
    n_opening = len(model.network.tokenizer(opening)["input_ids"])
    assert len(model._stem(question)) >= n_opening


PREMISE = "the old man saw the dog and the dog saw the old man in the street ."
SAME_PREMISE: list[Texts] = [
    (PREMISE, hypothesis)
    for hypothesis in ("the dog saw a cat .", "cat a saw dog the .", "it rains .", "the the the .")
]


@pytest.fixture
def n_run(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many tokens each pass of a network takes from now on."""
    true, seen = CausalNetwork._run, []

    def counting(self: CausalNetwork, inputs: Any, n_kept: int, **more: Any) -> Any:
        seen.append(inputs.numel())
        return true(self, inputs, n_kept, **more)

    monkeypatch.setattr(CausalNetwork, "_run", counting)
    return seen


@pytest.mark.parametrize("kind", ["tiny_llama", "tiny_chat"])
def test_a_premise_that_pairs_share_is_run_once(
    kind: str, n_run: list[int], request: pytest.FixtureRequest
) -> None:
    model = model_of(request.getfixturevalue(kind))
    questions = model.prompt.questions(SAME_PREMISE)
    model.option_scores(model.prompt.questions([("x", "y")]))  # runs the stem
    n_run.clear()
    found = model.option_scores(questions)
    n_premise = len(model.network.tokenizer(PREMISE)["input_ids"])
    n_own = [len(each.shared) - len(model._stem(questions[0])) for each in model.tokens(questions)]
    assert sum(n_run) < sum(n_own) - 2 * n_premise
    np.testing.assert_allclose(found, plain_scores(model, SAME_PREMISE), atol=1e-4)


def test_a_premise_that_comes_again_is_kept(tiny_llama: Path, n_run: list[int]) -> None:
    """As under curtailment, where each round has one variant of every example."""
    model = model_of(tiny_llama)
    passes = []
    for texts in SAME_PREMISE:
        n_run.clear()
        found = model.option_scores(model.prompt.questions([texts]))
        np.testing.assert_allclose(found, plain_scores(model, [texts]), atol=1e-4)
        passes.append(sum(n_run))
    assert max(passes[2:]) < passes[1] / 2, "the third and fourth run no premise"


def test_leads_beyond_what_is_kept_are_run_in_portions(
    tiny_llama: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [(f"{word} {PREMISE}", b) for word in ("ant", "bee", "cat") for _, b in SAME_PREMISE]
    expected = model_of(tiny_llama)(texts)
    monkeypatch.setattr("disorder.models.causal.PORTION", 40)
    np.testing.assert_allclose(model_of(tiny_llama)(texts), expected, atol=1e-6)


def test_a_network_that_cannot_share_is_run_from_the_first_token(
    tiny_llama: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = model_of(tiny_llama)(TEXTS)
    monkeypatch.setattr(CausalNetwork, "_can_share", lambda self: False)
    model = model_of(tiny_llama)
    assert "every prompt is run from its first token" in model.notes[0]
    assert not len(model._stem(model.prompt.questions(TEXTS[:1])[0]))
    np.testing.assert_allclose(model(TEXTS), expected, atol=1e-5)


def test_the_check_sees_a_network_whose_cache_is_wrong(
    tiny_llama: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    true = Stem.cache

    def wrong(self: Stem, n_rows: int) -> Any:
        cache = true(self, n_rows)
        cache.layers[0].keys += 1.0
        return cache

    monkeypatch.setattr(Stem, "cache", wrong)
    assert not model_of(tiny_llama).network.shares_stem


def test_batches_do_not_change_what_is_predicted(tiny_llama: Path) -> None:
    model = model_of(tiny_llama)
    together = model(TEXTS * 3)
    model.batch_size = 1
    np.testing.assert_allclose(model(TEXTS), together[: len(TEXTS)], atol=1e-6)


def test_a_batch_that_does_not_fit_is_halved(
    tiny_llama: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = model_of(tiny_llama)
    expected = model([TEXTS[0]] * 4)
    true = CausalNetwork._run

    def tight(self: CausalNetwork, inputs: Any, n_kept: int, **more: Any) -> Any:
        if len(inputs) > 1:
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory")
        return true(self, inputs, n_kept, **more)

    monkeypatch.setattr(CausalNetwork, "_run", tight)
    np.testing.assert_allclose(model([TEXTS[0]] * 4), expected, atol=1e-6)
    assert "did not fit in memory" in " ".join(model.notes)


def test_bf16_predicts_nearly_the_same(tiny_llama: Path) -> None:
    prompt = prompt_for(NLI, is_pair=True, shots=SHOTS)
    given = {"task": NLI, "options": {"prompt": prompt}}
    exact = model_of(tiny_llama)(TEXTS[:2])
    rounded = load(f"causal:{tiny_llama}", precision="bf16", **given)(TEXTS[:2])
    assert 0 < np.abs(exact - rounded).max() < 0.1


def test_a_prompt_that_is_too_long_is_an_error_and_not_cut(tiny_llama: Path) -> None:
    model = model_of(tiny_llama)
    for texts in ([("word " * 2000, "x")], [("word " * 2000, "x"), ("word " * 2000, "y")]):
        with pytest.raises(BadModel, match=r"a prompt has [\d,]+ tokens, .* takes 1,024"):
            model(texts)


def test_chat_is_used_where_there_is_a_template_and_can_be_turned_off(
    tiny_llama: Path, tiny_chat: Path
) -> None:
    [question] = prompt_for(NLI, is_pair=True).questions(TEXTS[:1])
    assert model_of(tiny_chat).rendered(question).startswith("<s>[user] Decide")
    assert model_of(tiny_chat, chat="off").rendered(question) == question.text
    assert model_of(tiny_llama).rendered(question) == question.text
    with pytest.raises(BadModel, match="chat='on': this model has no chat template"):
        model_of(tiny_llama, chat="on")


def test_the_fingerprint_is_of_model_and_prompt(tiny_llama: Path) -> None:
    one, other = model_of(tiny_llama), model_of(tiny_llama, calibrate="content-free")
    assert one.fingerprint.split("/")[0] == other.fingerprint.split("/")[0]
    assert one.fingerprint != other.fingerprint


def test_models_that_cannot_be_loaded_are_one_line(tmp_path: Path, tiny_llama: Path) -> None:
    prompt = prompt_for(NLI)
    with pytest.raises(BadModel, match="no such folder"):
        load("causal:./nowhere", task=NLI, options={"prompt": prompt})
    (tmp_path / "a.gguf").write_bytes(b"no weights")
    with pytest.raises(BadModel, match="cannot be loaded"):
        load(f"causal:{tmp_path}", task=NLI, options={"prompt": prompt})
    (tmp_path / "b.gguf").write_bytes(b"no weights")
    with pytest.raises(BadModel, match="has 2 GGUF files"):
        load(f"causal:{tmp_path}", task=NLI, options={"prompt": prompt})


def test_a_folder_with_one_gguf_file_is_that_model(tiny_gguf: Path, tiny_llama: Path) -> None:
    found, expected = model_of(tiny_gguf), model_of(tiny_llama)
    questions = found.prompt.questions(TEXTS[:4])
    assert found.tokens(questions) == expected.tokens(questions)
    np.testing.assert_allclose(
        found.option_scores(questions), expected.option_scores(questions), atol=1e-4
    )
    assert found.fingerprint != expected.fingerprint


def test_tokens_are_those_of_the_whole_string(tiny_llama: Path) -> None:
    transformers = pytest.importorskip("transformers")
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_llama)
    prompts = ["Answer:", "Answer: y", "Answer: ma", "x "]
    answers = [[" yes", " no"], ["es", "es no"], ["ybe", "n"], ["yes", "no"]]
    for prompt, own, found in zip(
        prompts, answers, prompt_tokens(tokenizer, prompts, answers, special=True), strict=True
    ):
        n_context = len(tokenizer(prompt.rstrip())["input_ids"])
        for answer, tail in zip(own, found.tails, strict=True):
            whole = tokenizer(prompt + answer)["input_ids"]
            assert [*found.shared, *tail] == whole
            scored = min(n_context, len(whole) - 1)
            assert len(found.shared) + found.n_unscored <= scored
            assert len(tail) > found.n_unscored


def test_common_length_of_nothing_in_common() -> None:
    assert common_length([(1, 2), (2, 2)]) == 0


def test_prompts_reach_the_cache_key(tiny_llama: Path, tmp_path: Path) -> None:
    """A second prompt must not be answered by the cache of the first."""

    def predictions(prompt: Prompt) -> Any:
        return load(f"causal:{tiny_llama}", task=NLI, options={"prompt": prompt}, cache=tmp_path)(
            TEXTS
        )

    first = predictions(prompt_for(NLI, is_pair=True))
    assert not np.allclose(first, predictions(prompt_for(NLI, is_pair=True, shots=SHOTS)))
    np.testing.assert_array_equal(first, predictions(prompt_for(NLI, is_pair=True)))
    assert json.dumps(first.tolist())


def test_the_likelihood_of_a_text_is_the_sum_of_its_tokens(tiny_llama: Path) -> None:
    task = replace(NLI, labels=(), is_likelihood=True)
    model = load(f"causal:{tiny_llama}", task=task)
    network = model.predictor.model  # type: ignore[attr-defined]
    texts = ["the old man saw the dog .", "dog", "the dog saw a cat . it rains ."]
    expected = []
    for text in texts:
        ids = [0, *network.tokenizer(text, add_special_tokens=False)["input_ids"]]
        with torch.inference_mode():
            logp = torch.log_softmax(network.network(torch.tensor([ids])).logits[0], dim=-1)
        expected.append(sum(float(logp[i - 1, ids[i]]) for i in range(1, len(ids))))
    np.testing.assert_allclose(network.log_likelihoods(texts), expected, atol=1e-4)
    pair = model([(texts[0], texts[1])])[0, 0]
    assert pair == pytest.approx(expected[0] + expected[1], abs=1e-4)
    assert network.log_likelihoods([""]).tolist() == [0.0]


@pytest.mark.parametrize("kind", [{"is_likelihood": True}, {"kind": "pair"}])
def test_what_is_made_of_a_model_runs_as_it_is_told(kind: dict[str, Any], tiny_llama: Path) -> None:
    task = replace(NLI, labels=() if "kind" not in kind else ("good", "bad"), **kind)
    made: Any = load(f"causal:{tiny_llama}", task=task, batch_size=3, precision="bf16").predictor
    assert made.model.batch_size == 3
    assert made.precisions == made.model.precisions
    assert str(made.model.network.dtype) == "torch.bfloat16"


def test_pseudo_likelihood_masks_one_token_at_a_time(tiny_masked: Path) -> None:
    task = replace(NLI, labels=(), is_likelihood=True)
    network = load(f"masked:{tiny_masked}", task=task).predictor.model  # type: ignore[attr-defined]
    text = "the old man saw the dog ."
    ids = network.tokenizer(text)["input_ids"]
    expected = 0.0
    for place in range(1, len(ids) - 1):
        hidden = [*ids[:place], network.tokenizer.mask_token_id, *ids[place + 1 :]]
        with torch.inference_mode():
            logits = network.network(torch.tensor([hidden])).logits[0, place]
        expected += float(torch.log_softmax(logits, dim=-1)[ids[place]])
    assert network.log_likelihoods([text])[0] == pytest.approx(expected, abs=1e-4)
    network.batch_size = 2
    assert network.log_likelihoods([text])[0] == pytest.approx(expected, abs=1e-4)


def test_a_masked_model_predicts_no_labels(tiny_masked: Path) -> None:
    with pytest.raises(BadModel, match="measure it with score='order_rank'"):
        load(f"masked:{tiny_masked}", task=NLI)
