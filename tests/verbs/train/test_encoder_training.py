"""Fine-tuning encoders of transformers: a head that fits is kept, padding changes nothing, several
processes learn what one does.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from conftest import NLI, pairs
from disorder.models import load
from disorder.verbs.train import train
from disorder.verbs.train.network_rows import predict_logits
from disorder.verbs.train.trainable_encoder import TrainableEncoder

torch = pytest.importorskip("torch", reason="needs torch")
pytest.importorskip("transformers", reason="needs transformers")

TWO = [{**row, "label": ("yes", "no")[i % 2]} for i, row in enumerate(pairs(16))]


def test_an_encoder_gets_a_new_head_and_is_saved_as_a_model(
    tiny_bert: Path, tmp_path: Path
) -> None:
    done = train(
        "plain",
        TWO,
        dev=TWO,
        model=f"hf:{tiny_bert}",
        out=tmp_path / "m",
        settings={"epochs": 2, "batch_size": 4, "lr": 1e-3, "accumulate": 2},
    )
    assert done.spec == f"hf:{tmp_path / 'm'}"
    predictor = load(done.spec, task=NLI.__class__("t", ("no", "yes")))
    found = predictor([(row["text_a"], row["text_b"]) for row in TWO])
    assert (
        found.argmax(axis=1) == [("no", "yes").index(row["label"]) for row in TWO]
    ).mean() == done.score.value
    assert json.loads((tmp_path / "m" / "config.json").read_text())["id2label"] == {
        "0": "no",
        "1": "yes",
    }


def test_a_head_with_the_same_labels_stays_whatever_their_order(tiny_bert: Path) -> None:
    texts = [(row["text_a"], row["text_b"]) for row in pairs(6)]
    model = TrainableEncoder(str(tiny_bert), NLI.labels, 64, seed=0)
    expected = load(f"hf:{tiny_bert}", task=NLI)(texts)
    logits = predict_logits(model, texts)
    found = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    assert np.abs(found - expected).max() < 1e-5


def test_a_padded_batch_gives_what_each_text_gives_alone(tiny_bert: Path) -> None:
    model = TrainableEncoder(str(tiny_bert), NLI.labels, 64, seed=0)
    texts = [("the dog saw a cat today", "no"), ("yes", "the boy is here and there"), ("a", "b")]
    together = predict_logits(model, texts)
    assert (
        np.abs(together - np.concatenate([predict_logits(model, [text]) for text in texts])).max()
        < 1e-4
    )


def test_a_model_that_is_padded_on_the_left_gives_what_each_text_gives_alone(
    tiny_bert: Path, tmp_path: Path
) -> None:
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_bert, padding_side="left")
    tokenizer.save_pretrained(tmp_path)
    torch.manual_seed(0)
    config = transformers.XLNetConfig(
        vocab_size=len(tokenizer),
        d_model=16,
        n_layer=1,
        n_head=2,
        d_inner=16,
        num_labels=3,
        initializer_range=0.5,
    )
    transformers.XLNetForSequenceClassification(config).save_pretrained(tmp_path)
    model = TrainableEncoder(str(tmp_path), NLI.labels, 64, seed=0)
    texts = [("the dog saw a cat today", "no"), ("yes", "the boy is here and there"), ("a", "b")]
    together = predict_logits(model, texts)
    assert np.ptp(together, axis=0).max() > 1e-3
    assert (
        np.abs(together - np.concatenate([predict_logits(model, [text]) for text in texts])).max()
        < 1e-4
    )


def test_a_model_without_a_padding_token_can_be_trained(tiny_bert: Path, tmp_path: Path) -> None:
    import transformers

    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=transformers.AutoTokenizer.from_pretrained(tiny_bert).backend_tokenizer,
        eos_token="[SEP]",
    )
    tokenizer.save_pretrained(tmp_path / "gpt")
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=len(tokenizer), n_positions=64, n_embd=16, n_layer=1, n_head=2
    )
    transformers.GPT2Model(config).save_pretrained(tmp_path / "gpt")
    model, few = f"hf:{tmp_path / 'gpt'}", {"epochs": 1, "batch_size": 4}
    done = train("plain", TWO, dev=TWO, model=model, out=tmp_path / "m", settings=few)
    found = load(done.spec, task=NLI.__class__("t", ("no", "yes")))(
        [(row["text_a"], row["text_b"]) for row in TWO]
    )
    assert (
        found.argmax(axis=1) == [("no", "yes").index(row["label"]) for row in TWO]
    ).mean() == done.score.value


def test_two_processes_learn_what_one_does(tmp_path: Path, jsonl: Callable[..., Path]) -> None:
    pytest.importorskip("accelerate", reason="needs accelerate")
    from safetensors.torch import load_file

    data = str(jsonl(pairs(40)))
    command = ["-m", "disorder", "train", "plain", data, "--device", "cpu"]
    for setting in ("epochs=2", "batch_size=8", "hidden=8", "width=8", "dropout=0", "patience=0"):
        command += ["--set", setting]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "ACCELERATE_USE_CPU": "true"}
    launch = ["-m", "torch.distributed.run", "--nproc-per-node", "2", "--master-port", "29517"]
    for out, start in (("one", [*command, "--set", "accumulate=2"]), ("two", [*launch, *command])):
        given = [sys.executable, *start, "--out", str(tmp_path / out)]
        done = subprocess.run(given, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-2000:]
    one, two = (load_file(tmp_path / name / "model.safetensors") for name in ("one", "two"))
    assert all(torch.allclose(one[name], two[name], atol=1e-5) for name in one)
