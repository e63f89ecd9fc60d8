"""Is a abstention none of the labels, in every score, and does a temperature leave every answer as it
was?
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import disorder
from conftest import NLI, pairs
from disorder.errors import BadModel
from disorder.metrics import scores
from disorder.models import load
from disorder.models.bow import Bow
from disorder.models.outputs.calibration import Calibration, calibration_of
from disorder.runs.samples import sample_table
from disorder.types import Example, Outcomes, Task, Texts, predicted_label


class Guard:
    """Answers entailment to whole pairs of `pairs`, and abstains every other text."""

    labels = ("entailment", "neutral", "contradiction", "invalid")
    fingerprint = ""

    def __call__(self, texts: list[Texts]) -> Any:
        whole = {(row["text_a"], row["text_b"]) for row in pairs(40)}
        return np.array(
            [[0.6, 0.2, 0.1, 0.1] if text in whole else [0.3, 0.1, 0.1, 0.5] for text in texts]
        )


def test_a_refusal_is_none_of_the_labels() -> None:
    model = load(Guard(), task=NLI)
    assert model.abstains
    assert any("invalid" in note for note in model.notes)
    row = pairs(1)[0]
    found = model([(row["text_a"], row["text_b"]), ("no", "text")])
    assert found.shape == (2, 3)
    assert predicted_label(found).tolist() == [0, -1]


def test_an_audit_accepts_no_refused_text() -> None:
    run = disorder.audit(Guard(), pairs(40), with_=["derange", "reverse"], q=5, suite="order")
    values = {(r.transformation, r.metric): r.value for r in run.scores if r.group == "all"}
    assert values["original", "accuracy"] == pytest.approx(14 / 40)
    assert (
        values["derange", "accuracy"]
        == values["derange", "omega_max"]
        == values["derange", "p_c"]
        == 0.0
    )
    assert values["derange", "agreement"] == 0.0
    assert values["reverse", "accuracy"] == 0.0
    assert values["derange", "confidence"] == pytest.approx(0.5)
    assert ("derange", "ece") not in values
    assert any(entry.metric == "ece" and entry.transformation == "derange" for entry in run.omitted)
    assert {version["answer"] for entry in run.telling for version in entry["variants"]} == {
        "invalid"
    }


def test_a_refusal_that_stays_is_an_answer_that_stays_but_a_missing_variant_is_none() -> None:
    abstained, there = [0.1, 0.1, 0.1], [np.nan] * 3
    answers = np.array([[abstained, abstained, there]])
    found = Outcomes(
        "derange",
        NLI,
        np.array(["x"]),
        np.array([0]),
        np.array([abstained]),
        answers,
        np.array([True]),
    )
    assert dict(scores(found, only=["agreement"]))["agreement"].value == 1.0  # type: ignore[union-attr]


def test_samples_name_the_refusal() -> None:
    example = Example("1", "a b", None, "x")
    answers = [np.array([[0.2, 0.1], [0.9, 0.1]], dtype=np.float32)]
    table = sample_table("original", ("x", "y"), [example], [None], [answers[0][:1]])
    assert table["label"].to_pylist() == ["invalid"]
    table = sample_table("original", ("x", "y"), [example], [None], [answers[0][1:]])
    assert table["label"].to_pylist() == ["x"]


def test_another_unknown_label_is_still_an_error() -> None:
    class Other(Guard):
        labels = ("entailment", "neutral", "contradiction", "nonsense")

    with pytest.raises(BadModel, match="nonsense"):
        load(Other(), task=NLI)


def test_a_task_may_have_a_label_of_that_name() -> None:
    task = Task("validity", ("invalid", "valid"))

    class Judge(Guard):
        labels = ("valid", "invalid")

        def __call__(self, texts: list[Texts]) -> Any:
            return np.tile([0.3, 0.7], (len(texts), 1))

    model = load(Judge(), task=task)
    assert not model.abstains
    assert predicted_label(model([("a", None)])).tolist() == [0]


@given(st.lists(st.floats(-30, 30), min_size=2, max_size=5), st.floats(0.05, 20))
def test_a_temperature_never_changes_the_answer(logits: list[float], temperature: float) -> None:
    z = np.array([logits])
    p = np.exp(z - z.max()) / np.exp(z - z.max()).sum()
    cooled = Calibration(temperature)(p)
    assert cooled.sum() == pytest.approx(1)
    assert cooled[0, p.argmax()] == cooled.max()
    scaled = z / temperature
    assert cooled == pytest.approx(
        np.exp(scaled - scaled.max()) / np.exp(scaled - scaled.max()).sum(), abs=1e-9
    )


def test_a_folder_with_a_temperature_is_asked_with_it(tmp_path: Path) -> None:
    weights = np.zeros((2**18, 2))
    weights[0] = [0.0, 2.0]  # the feature that every text has
    Bow(("no", "yes"), weights).save(tmp_path)
    task, spec = Task("t", ("no", "yes")), f"bow:{tmp_path}"
    plain = load(spec, task=task)
    Calibration(2.0, 0.9).write(tmp_path)
    cooled = load(spec, task=task)
    assert plain([("word", None)])[0, 1] == pytest.approx(1 / (1 + np.exp(-2)))
    assert cooled([("word", None)])[0, 1] == pytest.approx(1 / (1 + np.exp(-1)))
    assert plain.fingerprint != cooled.fingerprint
    assert any("temperature 2" in note for note in cooled.notes)
    assert calibration_of(spec) == Calibration(2.0, 0.9)


@pytest.mark.parametrize(
    "text", ["{", '{"temperature": 0}', '{"temperature": 1, "threshold": 2}', '{"heat": 1}']
)
def test_a_damaged_calibration_says_so(tmp_path: Path, text: str) -> None:
    (tmp_path / "calibration.json").write_text(text)
    with pytest.raises(BadModel, match=r"calibration\.json"):
        calibration_of(f"bow:{tmp_path}")


def test_a_model_without_a_folder_has_no_calibration() -> None:
    assert calibration_of("builtin") is None
    assert calibration_of("bow") is None
    assert json.dumps(Calibration().__dict__)
