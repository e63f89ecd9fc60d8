"""Is a transformers pipeline run as `hf:` runs its model, and called as it is where that would
change its predictions?
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from disorder.data import read_data
from disorder.data.builtin import TASKS as BUILTIN
from disorder.errors import BadModel
from disorder.models import load
from disorder.models.pipeline import CalledPipeline
from disorder.types import Task, Texts

torch = pytest.importorskip("torch", reason="needs torch")
transformers = pytest.importorskip("transformers", reason="needs transformers")

NLI = BUILTIN["nli"]
PAIRS: list[Texts] = [example.texts for example in read_data("builtin").examples[:40]]


def pipeline(folder: Path, **settings: Any) -> Any:
    return transformers.pipeline("text-classification", str(folder), device="cpu", **settings)


def n_forward_passes(model: Any) -> int:
    calls: list[Any] = []
    hook = model.predictor.network.register_forward_hook(lambda *_: calls.append(1))
    model(PAIRS)
    hook.remove()
    return len(calls)


@pytest.mark.parametrize("settings", [{}, {"top_k": None}, {"truncation": True}, {"top_k": 2}])
def test_predictions_and_forward_passes_are_those_of_hf(
    tiny_bert: Path, settings: dict[str, Any]
) -> None:
    given = pipeline(tiny_bert, **settings)
    unwrapped = load(given, task=NLI)
    usual = load(f"hf:{tiny_bert}", task=NLI)
    assert np.array_equal(unwrapped(PAIRS), usual(PAIRS))
    assert n_forward_passes(unwrapped) == n_forward_passes(usual)
    predictor: Any = unwrapped.predictor
    assert predictor.network is given.model
    assert not given.model.training


def test_predictions_are_those_of_the_pipeline(tiny_bert: Path) -> None:
    given = pipeline(tiny_bert, top_k=None)
    theirs = given([{"text": a, "text_pair": b} for a, b in PAIRS])
    ours = load(given, task=NLI)(PAIRS)
    for row, scores in zip(ours, theirs, strict=True):
        by_label = {each["label"]: each["score"] for each in scores}
        assert np.allclose(row, [by_label[label] for label in NLI.labels], atol=1e-5)


def test_weights_in_half_precision_are_run_in_fp32_on_a_cpu(tiny_bert: Path) -> None:
    given = pipeline(tiny_bert, dtype=torch.float16)
    unwrapped = load(given, task=NLI)
    assert given.model.dtype == torch.float16
    assert any("fp32" in note for note in unwrapped.notes)
    half = load(f"hf:{tiny_bert}", task=NLI).predictor
    half.network.half().float()  # type: ignore[attr-defined]
    assert np.array_equal(unwrapped.predictor(PAIRS), half(PAIRS))


def test_another_precision_leaves_the_users_weights_alone(tiny_bert: Path) -> None:
    given = pipeline(tiny_bert)
    load(given, task=NLI, precision="bf16")(PAIRS)
    assert given.model.dtype == torch.float32


def changed(folder: Path, into: Path, **settings: Any) -> Path:
    """A copy of the model with another configuration."""
    config = transformers.AutoConfig.from_pretrained(folder)
    for name, value in settings.items():
        setattr(config, name, value)
    network = transformers.AutoModelForSequenceClassification.from_pretrained(
        folder, config=config, ignore_mismatched_sizes=True
    )
    network.save_pretrained(into)
    transformers.AutoTokenizer.from_pretrained(folder).save_pretrained(into)
    return into


@pytest.mark.parametrize("how", ["multi-label", "sigmoid", "max_length"])
def test_a_pipeline_that_does_more_than_a_softmax_is_called(
    tiny_bert: Path, tmp_path: Path, how: str
) -> None:
    """Its top label stays the top label, and the numbers come from it."""
    if how == "multi-label":
        folder = changed(tiny_bert, tmp_path, problem_type="multi_label_classification")
        given = pipeline(folder)
    elif how == "sigmoid":
        given = pipeline(tiny_bert, function_to_apply="sigmoid")
    else:
        given = pipeline(tiny_bert, truncation=True, max_length=12)
    model = load(given, task=NLI, batch_size=4)
    assert isinstance(model.predictor, CalledPipeline)
    assert any("itself is called" in note for note in model.notes)
    theirs = given([{"text": a, "text_pair": b} for a, b in PAIRS], top_k=None)
    ours = model(PAIRS)
    assert [NLI.labels[i] for i in ours.argmax(axis=1)] == [each[0]["label"] for each in theirs]
    total = sum(each["score"] for each in theirs[0])
    assert ours[0].max() == pytest.approx(theirs[0][0]["score"] / total, abs=1e-5)


def test_a_model_of_one_number_is_unwrapped_only_without_a_sigmoid(
    tiny_bert: Path, tmp_path: Path
) -> None:
    numbers = Task("sts", ())
    names = {"num_labels": 1, "id2label": {0: "score"}, "label2id": {"score": 0}}
    plain = pipeline(changed(tiny_bert, tmp_path / "r", problem_type="regression", **names))
    squashed = pipeline(changed(tiny_bert, tmp_path / "s", **names))
    for given in (plain, squashed):
        model = load(given, task=numbers)
        theirs = [given({"text": a, "text_pair": b})["score"] for a, b in PAIRS]
        assert np.allclose(model(PAIRS)[:, 0], theirs, atol=1e-4)
        assert isinstance(model.predictor, CalledPipeline) == (given is squashed)


class Wrapper:
    """A callable of the user's own that looks like a pipeline."""

    def __init__(self, pipeline: Any) -> None:
        self.pipeline = pipeline
        self.task = pipeline.task
        self.model = pipeline.model
        self.tokenizer = pipeline.tokenizer

    def __call__(self, texts: list[Any]) -> list[str]:
        return ["neutral" for _ in texts]


def test_an_object_with_a_model_inside_is_not_taken_for_a_pipeline(tiny_bert: Path) -> None:
    model = load(Wrapper(pipeline(tiny_bert)), task=NLI)
    assert model(PAIRS[:2])[:, NLI.labels.index("neutral")].tolist() == [1.0, 1.0]


def test_another_kind_of_pipeline_is_one_line(tiny_bert: Path) -> None:
    given = transformers.pipeline("zero-shot-classification", str(tiny_bert), device="cpu")
    with pytest.raises(BadModel, match="zero-shot-classification is not supported"):
        load(given, task=NLI)
