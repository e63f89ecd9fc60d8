"""What a bad verdict says to do: train against it, or what to give to one's own training."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from conftest import Command
from disorder.results.next_steps import next_steps


def bad_run(**facts: Any) -> Any:
    """A finished audit whose model keeps its skill without word order."""
    found = {
        "status": "done",
        "model": "hf:models/plain",
        "data": "sst2:dev",
        "kind": "labels",
        "labels": ["negative", "positive"],
        "folder": Path("runs/before"),
        "conclusion": SimpleNamespace(kind="bag_of_words", transformation="derange"),
        "settings": {},
        "groups": [],
        "n_available": 872,
        "is_likelihood": False,
        "prompt": {},
        "cut_short": None,
    }
    return cast("Any", SimpleNamespace(**{**found, **facts}))


@pytest.mark.parametrize("kind", ["bag_of_words", "mixed"])
@pytest.mark.parametrize("model", ["hf:models/plain", "convnet:models/plain", "bow:models/plain"])
def test_a_model_that_can_be_trained_is_trained(model: str, kind: str) -> None:
    conclusion = SimpleNamespace(kind=kind, transformation="derange")
    steps = next_steps(bad_run(model=model, conclusion=conclusion))
    wanted = f"disorder train entropic sst2:train --with derange --model {model}"
    assert f"{wanted} --audit runs/before" in [step.command for step in steps]


@pytest.mark.parametrize("model", ["openai:small", "onnx:models/plain", "convnet"])
def test_another_model_gets_rows_to_learn_from(model: str) -> None:
    steps = next_steps(bad_run(model=model))
    wanted = "disorder perturb sst2:train --with derange --as training --out rows.jsonl"
    assert wanted in [step.command for step in steps]


@pytest.mark.parametrize(
    ("model", "wanted"),
    [
        (
            "bow:models/plain",
            "disorder train entropic TRAIN.jsonl --with derange --model bow:models/plain "
            "--columns body=text_a --audit runs/before",
        ),
        (
            "python:mine:predict",
            "disorder perturb TRAIN.jsonl --with derange --columns body=text_a --as training "
            "--out rows.jsonl",
        ),
    ],
)
def test_data_of_the_user_has_a_place_for_training_data(model: str, wanted: str) -> None:
    settings = {"columns": {"body": "text_a"}}
    steps = next_steps(bad_run(model=model, data="reviews.csv", settings=settings))
    [step] = [each for each in steps if each.command == wanted]
    assert step.why.endswith("(TRAIN.jsonl: yours)")


@pytest.mark.parametrize(
    "facts", [{"labels": [], "data": "stsb:dev"}, {"data": "builtin"}, {"data": "data"}]
)
def test_numbers_and_data_without_a_training_split_have_no_such_step(facts: dict[str, Any]) -> None:
    words = " ".join(step.command for step in next_steps(bad_run(**facts)))
    assert "training" not in words
    assert "disorder train" not in words


def test_where_nothing_follows_one_looks_at_the_predictions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ("audit", "always:neutral", "builtin", "--limit", 30, "--q", 2, "--with", "derange")
    code, printed, told = command(*words, "--out", "run")
    assert code == 0, told
    step = "disorder report run --examples examples.csv"
    assert f"{step}   look at its predictions" in printed
    code, _, told = command(*step.split()[1:])
    assert code == 0, told
    assert len(Path("examples.csv").read_text(encoding="utf-8").splitlines()) == 31
