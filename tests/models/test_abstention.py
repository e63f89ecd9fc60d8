"""Is abstaining none of the labels, in every score, and does a temperature leave every prediction
as it was?
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
from disorder.models.outputs import Calibration, calibration_of
from disorder.models.servers.replies import WrittenReply
from disorder.store.samples import sample_table
from disorder.types import Example, Outcomes, Task, Texts
from disorder.types.predictions import FAILED, Predictions, is_declined, predicted_label


class Guard:
    """Predicts entailment for the original texts of `pairs`, and abstains on every other."""

    labels = ("entailment", "neutral", "contradiction", "invalid")
    fingerprint = ""

    def __call__(self, texts: list[Texts]) -> Any:
        whole = {(row["text_a"], row["text_b"]) for row in pairs(40)}
        return np.array(
            [[0.6, 0.2, 0.1, 0.1] if text in whole else [0.3, 0.1, 0.1, 0.5] for text in texts]
        )


def test_abstaining_is_none_of_the_labels() -> None:
    model = load(Guard(), task=NLI)
    assert model.abstains
    assert any("invalid" in note for note in model.notes)
    row = pairs(1)[0]
    found = model([(row["text_a"], row["text_b"]), ("no", "text")])
    assert found.shape == (2, 3)
    assert predicted_label(found).tolist() == [0, -1]


def test_an_audit_accepts_no_text_that_the_model_abstains_on() -> None:
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


def test_abstaining_again_is_agreement_but_a_missing_variant_is_none() -> None:
    abstained, there = [0.1, 0.1, 0.1], [np.nan] * 3
    predictions = np.array([[abstained, abstained, there]])
    found = Outcomes(
        "derange",
        NLI,
        np.array(["x"]),
        np.array([0]),
        np.array([abstained]),
        predictions,
        np.array([True]),
    )
    assert dict(scores(found, only=["agreement"]))["agreement"].value == 1.0  # type: ignore[union-attr]


def test_samples_name_the_abstention() -> None:
    example = Example.of("1", "a b", None, "x")
    predictions = Predictions.answered(np.array([[0.2, 0.1], [0.9, 0.1]]))
    table = sample_table("original", ("x", "y"), [example], [None], predictions.take([0]))
    assert table["label"].to_pylist() == ["invalid"]
    assert table["outcome"].to_pylist() == ["abstained"]
    table = sample_table("original", ("x", "y"), [example], [None], predictions.take([1]))
    assert table["label"].to_pylist() == ["x"]
    assert table["outcome"].to_pylist() == ["answered"]


def test_a_model_may_say_which_texts_it_failed_on() -> None:
    outcomes = np.array(["answered", "failed: the line was busy", "abstained"], dtype=object)

    def some(texts: list[str]) -> Predictions:
        return Predictions(np.full((3, 3), 1 / 3), outcomes)

    texts = [("a", None), ("b", None), ("c", None)]
    found = load(some, task=NLI).predict_texts(texts)
    assert found.outcomes.tolist() == outcomes.tolist()
    assert found.is_failed.tolist() == [False, True, False]
    assert np.isnan(found.values[1]).all()
    assert found.values[2].tolist() == [0.0, 0.0, 0.0]
    assert load(some, task=NLI)(texts)[1].tolist() == [0.0, 0.0, 0.0]
    declining = load(some, task=NLI, no_answer="abstain").predict_texts(texts)
    assert declining.outcomes.tolist() == ["answered", "abstained", "abstained"]


@pytest.mark.parametrize("outcomes", [["answered"], ["answered", "perhaps"]])
def test_outcomes_are_one_per_text_and_known(outcomes: list[str]) -> None:
    def some(texts: list[str]) -> Predictions:
        return Predictions(np.full((2, 3), 1 / 3), np.array(outcomes, dtype=object))

    with pytest.raises(BadModel, match="outcomes must be one per text"):
        load(some, task=NLI).predict_texts([("a", None), ("b", None)])


@pytest.mark.parametrize(
    ("reply", "is_read"),
    [
        (WrittenReply("", {"refusal": "I cannot."}, "stop", 8, is_cut=False), True),
        (WrittenReply("Perhaps.", {}, "stop", 8, is_cut=False), True),
        (WrittenReply("", {}, "length", 8, is_cut=True), False),
    ],
)
def test_a_reply_that_ran_out_of_tokens_is_not_declined(reply: WrittenReply, is_read: bool) -> None:
    outcomes = np.array([FAILED + reply.why_no_label], dtype=object)
    assert is_declined(outcomes).tolist() == [is_read]


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
def test_a_temperature_never_changes_the_label(logits: list[float], temperature: float) -> None:
    z = np.array([logits])
    p = np.exp(z - z.max()) / np.exp(z - z.max()).sum()
    cooled = Calibration(temperature)(p)
    assert cooled.sum() == pytest.approx(1)
    assert cooled[0, p.argmax()] == cooled.max()
    scaled = z / temperature
    assert cooled == pytest.approx(
        np.exp(scaled - scaled.max()) / np.exp(scaled - scaled.max()).sum(), abs=1e-9
    )


def test_the_temperature_of_a_folder_is_used(tmp_path: Path) -> None:
    weights = np.zeros((2**18, 2))
    weights[0] = [0.0, 2.0]  # the feature that every text has
    Bow(("no", "yes"), weights).save(tmp_path)
    task, spec = Task("t", ("no", "yes")), f"bow:{tmp_path}"
    plain = load(spec, task=task)
    Calibration(2.0, 0.7).write(tmp_path)
    cooled = load(spec, task=task)
    assert plain([("word", None)])[0, 1] == pytest.approx(1 / (1 + np.exp(-2)))
    assert cooled([("word", None)])[0, 1] == pytest.approx(1 / (1 + np.exp(-1)))
    assert plain.fingerprint != cooled.fingerprint
    assert any("temperature 2" in note for note in cooled.notes)
    assert calibration_of(spec) == Calibration(2.0, 0.7)


def test_the_threshold_of_a_folder_is_used(tmp_path: Path) -> None:
    weights = np.zeros((2**18, 2))
    weights[0] = [0.0, 2.0]  # p = 0.881
    Bow(("no", "yes"), weights).save(tmp_path)
    task, spec = Task("t", ("no", "yes")), f"bow:{tmp_path}"
    Calibration().write(tmp_path)
    never = load(spec, task=task)
    Calibration(threshold=0.88).write(tmp_path)
    above = load(spec, task=task)
    Calibration(threshold=0.9).write(tmp_path)
    below = load(spec, task=task)
    assert [model.abstains for model in (never, above, below)] == [False, True, True]
    assert above.predict_texts([("word", None)]).outcomes.tolist() == ["answered"]
    found = below.predict_texts([("word", None)])
    assert found.outcomes.tolist() == ["abstained"]
    assert predicted_label(found.values).tolist() == [-1]
    assert len({model.fingerprint for model in (never, above, below)}) == 3
    assert any("below 0.9" in note for note in below.notes)


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


def test_a_function_abstains_by_none() -> None:
    """On labels, scores by label, rows of probabilities, and numbers."""
    task = Task("two", ("no", "yes"))
    texts: list[Texts] = [("a b", None), ("c d", None), ("e f", None)]
    forms: list[list[Any]] = [
        ["yes", None, "no"],
        [{"yes": 0.9, "no": 0.1}, None, {"no": 0.7, "yes": 0.3}],
        [[0.1, 0.9], None, [0.7, 0.3]],
    ]
    for answers in forms:
        found = load(lambda _, answers=answers: answers, task=task)(texts)
        assert predicted_label(found).tolist() == [1, -1, 0]
    numbers = load(lambda _: [0.5, None, 2.0], task=Task("graded", ()))(texts)
    assert np.isnan(numbers[:, 0]).tolist() == [False, True, False]
    assert predicted_label(load(lambda _: [None] * 3, task=task)(texts)).tolist() == [-1] * 3
    with pytest.raises(BadModel, match="predictions have shape"):
        load(lambda _: ["yes", None], task=task)(texts)
