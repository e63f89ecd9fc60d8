"""Does a transformers folder predict as transformers itself would: right labels, pairs as pairs, no
padding?
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from disorder.data import read_data
from disorder.data.builtin import TASKS
from disorder.errors import BadModel
from disorder.models import LoadedModel, choose_precision, load
from disorder.models.inputs.batches import CPU_BUDGET, GPU_BUDGETS, token_budget
from disorder.types import Floats, Texts
from disorder.verbs.audit.pipeline import audit

torch = pytest.importorskip("torch", reason="needs torch")
transformers = pytest.importorskip("transformers", reason="needs transformers")

NLI = TASKS["nli"]
PAIRS: list[Texts] = [example.texts for example in read_data("builtin").examples[:40]]


def by_hand(folder: Path, texts: list[Texts]) -> Floats:
    """One text at a time, as the documentation of transformers does it; in the task's columns."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    network = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    columns = [network.config.label2id[label] for label in NLI.labels]
    rows = []
    with torch.inference_mode():
        for a, b in texts:
            logits = network(
                **tokenizer(a, b, return_tensors="pt", truncation=True, max_length=64)
            ).logits[0]
            rows.append(logits.softmax(-1).numpy()[columns])
    return np.array(rows)


def test_predictions_are_those_of_transformers(tiny_bert: Path) -> None:
    made = load(f"hf:{tiny_bert}", task=NLI)(PAIRS)
    assert np.allclose(made, by_hand(tiny_bert, PAIRS), atol=1e-5)
    assert len(set(made.argmax(axis=1).tolist())) > 1


def test_long_texts_are_cut_as_the_tokenizer_cuts_them(tiny_bert: Path) -> None:
    first, second = (" ".join(str(pair[side]) for pair in PAIRS[:8]) for side in (0, 1))
    long: list[Texts] = [(first, "the nurse sang"), ("the nurse", second), (first, second)]
    assert np.allclose(load(f"hf:{tiny_bert}", task=NLI)(long), by_hand(tiny_bert, long), atol=1e-5)


@pytest.mark.parametrize("batch_size", [1, 3, 64])
def test_the_batch_size_changes_no_prediction(tiny_bert: Path, batch_size: int) -> None:
    usual = load(f"hf:{tiny_bert}", task=NLI)(PAIRS)
    assert np.allclose(
        load(f"hf:{tiny_bert}", task=NLI, batch_size=batch_size)(PAIRS), usual, atol=1e-6
    )


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("too much"),
        RuntimeError(
            "[enforce fail at alloc_cpu.cpp:127] DefaultCPUAllocator: can't allocate memory"
        ),
        RuntimeError("MPS backend out of memory (MPS allocated: 9 GB)"),
    ],
)
@pytest.mark.parametrize("batch_size", [None, 8])
def test_a_batch_that_does_not_fit_is_halved(
    tiny_bert: Path, monkeypatch: pytest.MonkeyPatch, error: RuntimeError, batch_size: int | None
) -> None:
    predictor: Any = load(f"hf:{tiny_bert}", task=NLI, batch_size=batch_size)
    usual = predictor(PAIRS)
    network, failed = predictor.predictor.network, []

    def small(**inputs: Any) -> Any:
        if len(inputs["input_ids"]) > 2:
            failed.append(len(inputs["input_ids"]))
            raise error
        return network(**inputs)

    small.device = network.device  # type: ignore[attr-defined]
    monkeypatch.setattr(predictor.predictor, "network", small)
    assert np.allclose(predictor(PAIRS), usual, atol=1e-6)
    assert any("did not fit" in note for note in predictor.notes)
    n_failed = len(failed)
    assert n_failed
    predictor(PAIRS)
    assert len(failed) == n_failed  # the next batches are small from the start


def test_another_failure_is_not_taken_for_lack_of_memory(
    tiny_bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    predictor: Any = load(f"hf:{tiny_bert}", task=NLI)

    def perturbed(**_: Any) -> Any:
        raise RuntimeError("shapes cannot be multiplied")

    perturbed.device = predictor.predictor.network.device  # type: ignore[attr-defined]
    monkeypatch.setattr(predictor.predictor, "network", perturbed)
    with pytest.raises(RuntimeError, match="multiplied"):
        predictor(PAIRS)


def test_the_batch_is_found_from_model_and_memory() -> None:
    base = transformers.BertConfig()
    large = transformers.BertConfig(
        hidden_size=2048, num_attention_heads=32, intermediate_size=8192
    )
    gigabyte = 1024**3
    assert token_budget(base, 512, None) == CPU_BUDGET
    found = [token_budget(base, 512, n * gigabyte) for n in (0, 1, 2, 4, 16, 80)]
    assert found == sorted(found)
    assert (found[0], found[-1]) == GPU_BUDGETS
    assert token_budget(large, 512, 4 * gigabyte) < token_budget(base, 512, 4 * gigabyte)
    assert token_budget(base, 512, 2 * gigabyte) == token_budget(
        base, 512, 2 * gigabyte - 4096
    )  # a few bytes change nothing


@pytest.mark.parametrize("precision", ["bf16", "int8"])
@pytest.mark.filterwarnings("ignore:.*quantiz.*", "ignore:.*deprecated.*")
def test_other_precisions_predict_nearly_the_same(tiny_bert: Path, precision: str) -> None:
    usual = load(f"hf:{tiny_bert}", task=NLI)(PAIRS)
    other = load(f"hf:{tiny_bert}", task=NLI, precision=precision)(PAIRS)
    assert 0 < abs(other - usual).max() < 0.3
    assert (other.argmax(axis=1) == usual.argmax(axis=1)).mean() > 0.7


class Stub:
    """Predicts by the length of a text; `n_wrong` of them otherwise, and after a wait."""

    labels = ("x", "y")
    fingerprint = "stub"

    def __init__(self, seconds: float, n_wrong: int) -> None:
        self.seconds, self.n_wrong = seconds, n_wrong

    def __call__(self, texts: list[Texts], /) -> Floats:
        time.sleep(self.seconds)
        labels = np.array([len(a) % 2 for a, _ in texts])
        labels[: self.n_wrong] = 1 - labels[: self.n_wrong]
        return np.eye(2)[labels]


@pytest.mark.parametrize(
    ("bf16", "int8", "agree", "chosen"),
    [
        ((0.02, 0), (0.04, 0), 0.99, "bf16"),  # the fastest that agrees
        ((0.02, 5), (0.04, 0), 0.99, "int8"),  # faster, but 5 of 100 predictions differ
        ((0.02, 5), (0.04, 0), 0.90, "bf16"),  # which a looser bound allows
        ((0.02, 5), (0.04, 5), 0.99, "fp32"),  # none agrees
        ((0.10, 0), (0.10, 0), 0.99, "fp32"),  # none is faster
    ],
)
def test_auto_precision_takes_the_fastest_that_agrees(
    bf16: tuple[float, int], int8: tuple[float, int], agree: float, chosen: str
) -> None:
    speeds = {"fp32": (0.08, 0), "bf16": bf16, "int8": int8}
    texts: list[Texts] = [("w" * i, None) for i in range(100)]

    def loader(precision: str) -> LoadedModel:
        return LoadedModel(Stub(*speeds[precision]), "stub", ("x", "y"), np.eye(2), precision)

    found, note = choose_precision(loader, texts, agree)
    assert found == chosen
    assert note.startswith(f"precision {chosen}")


def test_precision_is_for_models_that_have_one() -> None:
    with pytest.raises(BadModel, match="one precision only"):
        load("uniform", task=NLI, precision="bf16")


def test_the_second_audit_predicts_nothing(tiny_bert: Path, tmp_path: Path) -> None:
    settings = {
        "limit": 20,
        "q": 5,
        "with_": ["derange"],
        "fidelity": "paper",  # without the control of surfaces, so that texts can be counted
        "cache": str(tmp_path / "cache"),
    }
    first = audit(f"hf:{tiny_bert}", "builtin", **settings)
    second = audit(f"hf:{tiny_bert}", "builtin", **settings)
    assert first.n_predictions == 20 * 6
    assert second.n_predictions == 0
    assert second.profile["cached"] == 20 * 6
    assert second.scores == first.scores


def test_a_folder_that_is_no_model_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(BadModel, match="is no transformers model: need a folder"):
        load(f"hf:{tmp_path}", task=NLI)


def changed_weights(tiny_bert: Path, to: Path, change: Callable[[dict[str, Any]], None]) -> str:
    """A copy of the model with other weights."""
    from safetensors.torch import load_file, save_file

    shutil.copytree(tiny_bert, to)
    weights = load_file(to / "model.safetensors")
    change(weights)
    save_file(weights, to / "model.safetensors", metadata={"format": "pt"})
    return f"hf:{to}"


def test_weights_that_are_missing_are_not_drawn_at_random(tiny_bert: Path, tmp_path: Path) -> None:
    """transformers fills them with random numbers, of which no audit can tell anything."""

    def without_head(weights: dict[str, Any]) -> None:
        for name in ("classifier.weight", "classifier.bias"):
            del weights[name]

    spec = changed_weights(tiny_bert, tmp_path / "headless", without_head)
    with pytest.raises(BadModel, match=r"has no weights for classifier\.bias and 1 more") as told:
        load(spec, task=NLI)
    assert len(str(told.value).splitlines()) == 1


def test_a_folder_without_a_tokenizer_is_one_line(tiny_bert: Path, tmp_path: Path) -> None:
    """transformers makes one up that knows no word."""
    folder = tmp_path / "wordless"
    shutil.copytree(tiny_bert, folder)
    for name in ("tokenizer.json", "tokenizer_config.json", "vocab.txt"):
        (folder / name).unlink()
    with pytest.raises(BadModel, match="has no vocabulary"):
        load(f"hf:{folder}", task=NLI)


def test_a_tokenizer_of_another_model_is_one_line(tiny_bert: Path, tmp_path: Path) -> None:
    def small(weights: dict[str, Any]) -> None:
        name = "bert.embeddings.word_embeddings.weight"
        weights[name] = weights[name][:10].clone()

    spec = changed_weights(tiny_bert, tmp_path / "other", small)
    config = tmp_path / "other" / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"vocab_size": 10}))
    with pytest.raises(BadModel, match="its tokenizer belongs to another model"):
        load(spec, task=NLI)([("one two", "three")])


def _audited(folder: str, cache: str) -> list[dict[str, Any]]:
    run = audit(f"hf:{folder}", "builtin", limit=40, q=8, with_=["derange"], cache=cache)
    assert run.notes == []
    return [asdict(record) for record in run.scores]


def test_two_audits_at_once_on_one_cache_are_both_right(tiny_bert: Path, tmp_path: Path) -> None:
    alone = _audited(str(tiny_bert), "off")
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        both = list(pool.map(_audited, [str(tiny_bert)] * 2, [str(tmp_path / "cache")] * 2))
    assert both == [alone, alone]
