"""Fewer model calls, the same scores: curtailment is exact, and stopping early keeps its promise
however often one looks.
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from disorder.errors import DisorderError
from disorder.metrics import Anytime, StopRule, limits
from disorder.types import Task
from disorder.verbs.audit.pipeline import audit

LABELS = ("entailment", "neutral", "contradiction")


@pytest.fixture
def data(tmp_path: Path) -> str:
    rows = [
        {
            "id": f"e{i}",
            "text_a": f"the {i} small dogs ran over nine old hills",
            "label": LABELS[i % 3],
            "text_b": f"some {i} brown cats sat on a warm red mat",
        }
        for i in range(60)
    ]
    path = tmp_path / "data.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return str(path)


def uneven(pairs: list[tuple[str, str]]) -> list[list[float]]:
    """Each example is accepted at a rate of its own, from never to always."""
    predictions = []
    for a, b in pairs:
        number = next(int(word) for word in a.split() if word.isdecimal())
        luck = sum(ord(char) * (i + 7) for i, char in enumerate(a + b)) % 60
        predictions.append(np.eye(3)[number % 3 if luck < number else (number + 1) % 3].tolist())
    return predictions


@pytest.mark.parametrize("fidelity", ["paper", "released"])
@pytest.mark.parametrize(
    "wanted",
    [["omega_max"], ["omega_max", "omega_rand"], ["omega_all"], ["omega@0.5", "omega@0.9"], []],
    ids=str,
)
def test_curtailed_scores_are_the_full_ones(data: str, wanted: list[str], fidelity: str) -> None:
    specs = ["derange:q=50", "reverse"]
    full = audit(uneven, data, with_=specs, fidelity=fidelity)
    short = audit(uneven, data, with_=specs, fidelity=fidelity, curtail=True, score=wanted)
    measured = [record for record in short.scores if record.transformation.startswith("derange")]
    assert {record.metric for record in measured} == set(wanted or ["omega_max", "omega_rand"])
    for record in measured:
        assert record == full.score(record.transformation, record.metric)
    assert short.n_predictions + short.profile["saved"] == full.n_predictions
    assert short.profile["saved"] > 100


def test_omega_max_alone_needs_few_questions(data: str) -> None:
    run = audit(
        lambda pairs: [[0, 1, 0]] * len(pairs),
        data,
        with_=["derange"],
        curtail=True,
        score=["omega_max"],
    )
    # a third of the examples is accepted at the first permutation, the others never
    assert run.n_predictions == 60 + 20 * 1 + 40 * 100


def test_scores_that_need_every_permutation_cannot_be_curtailed(data: str) -> None:
    with pytest.raises(DisorderError, match="p_c needs every permutation"):
        audit("uniform", data, curtail=True, score=["p_c"])


def test_thresholds() -> None:
    task = Task("nli", LABELS)
    assert limits(["omega_max", "omega_rand", "omega_all"], task, "paper") == [
        0,
        Fraction(1, 3),
        1,
    ]
    assert limits(["omega_rand", "omega@0.5"], task, "released") == [
        Fraction(1, 3),
        Fraction(1, 2),
    ]


def test_a_confidence_sequence_holds_at_every_moment_at_once() -> None:
    """1,000 runs of 300 values, looked at after every 10: the true mean is outside at any look in
    at most 5 %.
    """
    rng = np.random.default_rng(1)
    missed = 0
    for run in range(1000):
        mean = (0.05, 0.34, 0.5, 0.8, 0.97)[run % 5]
        is_share = run % 2 == 0
        values = (
            (rng.random(300) < mean).astype(float)
            if is_share
            else rng.beta(mean * 3, (1 - mean) * 3, size=300)
        )
        sequence, outside = Anytime(), False
        for start in range(0, 300, 10):
            sequence.update(values[start : start + 10])
            low, high = sequence.interval
            outside |= not low <= mean <= high
        missed += outside
    assert missed / 1000 <= 0.05


def test_a_confidence_sequence_gets_narrow() -> None:
    sequence = Anytime()
    sequence.update(np.full(2000, 0.7))
    assert sequence.width < 0.02
    assert sequence.interval[0] < 0.7 < sequence.interval[1]


def test_predicting_stops_when_the_interval_is_narrow_enough(data: str) -> None:
    full = audit("always:neutral", "builtin", limit=2000, q=5, with_=["derange"])
    run = audit(
        "always:neutral",
        "builtin",
        limit=2000,
        q=5,
        with_=["derange"],
        stop_when="width(p_c) < 0.05",
    )
    assert run.stopped[0].n_examples < 2000
    assert run.n_predictions < full.n_predictions
    record = run.score("derange", "p_c")
    assert record is not None
    assert record.high - record.low < 0.05
    assert record.value == 1


@pytest.mark.parametrize(
    "text", ["p_c < 0.1", "width(p_c) > 0.1", "width(p_c) < 2", "width() < 0.1"]
)
def test_a_rule_that_cannot_be_read(text: str) -> None:
    with pytest.raises(DisorderError, match="width"):
        StopRule.parse(text)
