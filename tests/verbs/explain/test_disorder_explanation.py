"""`explain --by disorder` tells a reader of local order from a reader of global order."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from disorder import explain
from disorder.errors import DisorderError, NothingToMeasure
from disorder.results.result import Section
from disorder.verbs.explain import Explained
from disorder.verbs.explain.disorder_regression import joint_slopes
from disorder.verbs.explain.result import with_found
from disorder.verbs.explain.several_models import together

N_WORDS = 12
N_ROWS = 60
# all different as words, and each says which place it had
WORDS = [f"{letter}{letter}" for letter in "abcdefghijkl"]
NUMBER = {word: i for i, word in enumerate(WORDS)}
ROWS = [
    {"id": f"{i:03d}", "text_a": f"t {i}", "text_b": " ".join(WORDS), "label": ("no", "yes")[i % 2]}
    for i in range(N_ROWS)
]


def order_of(text: str) -> np.ndarray[Any, Any]:
    return np.array([NUMBER[word] for word in text.split()])


def local(text: str) -> float:
    """The share of neighbours that were none."""
    return float((np.diff(order_of(text)) != 1).mean())


def travelled(text: str) -> float:
    """How far words are from home."""
    order = order_of(text)
    return float(np.abs(order - np.arange(len(order))).sum() / (len(order) ** 2 // 2))


def reader(measure: Any) -> Any:
    """A model that says yes until the disorder passes a limit of the example's own."""

    def predict(pairs: Sequence[tuple[str, str]]) -> list[str]:
        limits = [(int(a.split()[1]) + 0.5) / N_ROWS for a, _ in pairs]
        return [
            "yes" if measure(b) < limit else "no"
            for (_, b), limit in zip(pairs, limits, strict=True)
        ]

    predict.labels = ["no", "yes"]  # type: ignore[attr-defined]
    return predict


def finding(measure: Any) -> tuple[str, Any]:
    found = explain(reader(measure), ROWS, by="disorder:draws=4", limit=None, language="en")
    return found["disorder"].finding, found["disorder"].scores


def test_a_reader_of_local_order_is_named() -> None:
    line, scores = finding(local)
    assert "follows local order more than global order" in line
    assert scores["local"].low > 0.7
    assert abs(scores["global"].value) < 0.15


def test_a_reader_of_global_order_is_named() -> None:
    line, scores = finding(travelled)
    assert "follows global order more than local order" in line
    assert scores["global"].low > 0.7
    assert abs(scores["local"].value) < 0.15


def test_a_model_without_order_changes_nothing() -> None:
    line, _ = finding(lambda text: 0.0)
    assert "no prediction changes, whatever the order" in line


def test_slopes_are_those_of_least_squares() -> None:
    rng = np.random.default_rng(0)
    x, z = rng.random((2, 40, 12))
    is_kept = rng.random((40, 12)) < 1 - 0.6 * x - 0.2 * z
    found = joint_slopes(x, z, is_kept)
    centred = [each - each.mean(axis=1, keepdims=True) for each in (x, z, 1.0 - is_kept)]
    columns = np.stack([centred[0].ravel(), centred[1].ravel()], axis=1)
    expected = np.linalg.lstsq(columns, centred[2].ravel(), rcond=None)[0]
    assert found.local.value == pytest.approx(expected[0])
    assert found.global_.value == pytest.approx(expected[1])
    assert found.difference.value == pytest.approx(expected[0] - expected[1])
    assert found.follows == "local"


def test_measures_that_move_together_cannot_be_told_apart() -> None:
    x = np.tile(np.linspace(0, 1, 8), (20, 1))
    with pytest.raises(NothingToMeasure, match="cannot be told apart"):
        joint_slopes(x, x, np.ones((20, 8), dtype=bool))


def test_several_models_share_one_picture(tmp_path: Path) -> None:
    """Readers of local and of global order beside each other, on the same perturbed texts."""
    readers = [reader(local), reader(travelled)]
    for name, each in zip(("near", "far"), readers, strict=True):
        each.__name__ = name
    found = explain(
        readers[0],
        ROWS,
        by="disorder:draws=2",
        beside=readers[1],
        limit=None,
        language="en",
        out=tmp_path,
    )
    assert "near: the model follows local order more" in found["disorder"].finding
    assert "far: the model follows global order more" in found["disorder"].finding
    assert found["disorder"].scores["near: local"].low > 0.7
    assert found["disorder"].scores["far: global"].low > 0.7
    curves, bars = found["disorder"].figures
    assert {row["model"] for row in curves.rows} == {"near", "far"}
    assert curves.spec["facet"]["sort"] == ["near", "far"]
    assert {row["model"] for row in found["disorder"].tables[0].rows} == {"near", "far"}
    drawn = (tmp_path / "disorder_joint.svg").read_text(encoding="utf-8")
    assert ">near</text>" in drawn
    assert ">far</text>" in drawn
    assert found.about.startswith("near, far on ")
    assert "--beside far" in (tmp_path / "explain.html").read_text(encoding="utf-8")
    assert bars.name == "disorder_joint"


def test_a_model_without_a_finding_does_not_hide_the_others() -> None:
    hidden: Section[Explained] = Section("x", "?", reason="it has no heads")
    shown = with_found(hidden, Explained("it does", scores={}))
    both = together({"first": hidden, "second": shown})
    assert both.found is not None
    assert both.found.finding == "second: it does"
    assert both.found.notes == ["first: not shown: it has no heads"]
    assert together({"first": hidden, "second": hidden}).found is None


def test_a_model_named_twice_is_an_error() -> None:
    with pytest.raises(DisorderError, match="uniform is named twice"):
        explain("uniform", by="disorder", beside=["uniform"], limit=5)
