"""Mitigations of encoders of transformers: one more label, words that matter by gradients, a
temperature that is read back.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import disorder
from disorder.data import read_data
from disorder.models import load
from disorder.models.outputs import calibration_of
from disorder.verbs.train import train

pytest.importorskip("torch", reason="needs torch")
pytest.importorskip("transformers", reason="needs transformers")

FEW: dict[str, Any] = {"epochs": 1, "batch_size": 8}


def rows(n: int = 24) -> list[dict[str, str]]:
    examples = read_data("builtin").examples[:n]
    return [
        {"id": e.id, "text_a": e.text_a, "text_b": str(e.text_b), "label": e.label}
        for e in examples
    ]


def test_an_encoder_with_one_more_label_can_be_audited(tiny_bert: Path, tmp_path: Path) -> None:
    asks = f"hf:{tiny_bert}"
    done = train(
        "invalid_class", rows(), dev=rows(12), model=asks, out=tmp_path / "m", settings=FEW
    )
    names = json.loads((done.folder / "config.json").read_text())["id2label"].values()
    assert set(names) == {"entailment", "neutral", "contradiction", "invalid"}
    assert "drop_least" in done.record["after"]["perturbed_by"], (
        "the model has the labels already, so it says which words matter"
    )
    run = disorder.audit(done.spec, rows(), with_=["reverse", "drop_least"], cache="off")
    assert any("invalid" in note for note in run.notes)
    assert run.score("original", "accuracy") is not None
    assert run.score("drop_least", "accuracy") is not None


def test_an_encoder_is_trained_further_and_keeps_its_calibration(
    tiny_bert: Path, tmp_path: Path
) -> None:
    model = f"hf:{tiny_bert}"
    done = train(
        "entropic",
        rows(),
        dev=rows(12),
        model=model,
        with_=["reverse"],
        out=tmp_path / "m",
        settings={"batch_size": 8},
    )
    assert [record["phase"] for record in done.record["curve"]] == ["mitigation"] * 3
    found = calibration_of(done.spec)
    assert found is not None
    assert found.threshold is not None
    texts = [(row["text_a"], row["text_b"]) for row in rows(12)]
    loaded = load(done.spec, task=read_data(rows()).task)
    warm = loaded(texts)
    loaded.calibration = None
    expected = found(loaded(texts))
    expected[found.abstains_on(expected)] = 0.0  # none of the labels
    assert warm == pytest.approx(expected, abs=1e-5)
    answered = ~found.abstains_on(warm)
    assert np.array_equal(warm.argmax(axis=1)[answered], loaded(texts).argmax(axis=1)[answered])


def test_a_pre_task_is_for_single_sentences_and_the_task_for_pairs(
    tiny_bert: Path, tmp_path: Path
) -> None:
    done = train(
        "order_pretask",
        rows(),
        dev=rows(12),
        model=f"hf:{tiny_bert}",
        out=tmp_path / "m",
        settings=FEW,
    )
    assert [record["phase"] for record in done.record["curve"]] == ["real or fake", "task"]
    assert set(done.record["labels"]) == {"entailment", "neutral", "contradiction"}
