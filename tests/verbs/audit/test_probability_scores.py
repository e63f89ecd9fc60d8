"""Is it decided once per run whether a model gives probabilities?"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from conftest import NLI, pairs
from disorder.errors import DisorderError, NothingToMeasure
from disorder.metrics import LABELS_ONLY
from disorder.papers.study.pipelines.measurements import (
    LEXICAL,
    SaladScores,
    mean_over_transformations,
    outcomes_of,
)
from disorder.results.run import Run
from disorder.results.run_folder import read_run
from disorder.verbs.audit import audit
from disorder.verbs.compare import FinishedRun

ROWS = [{**row, "part": "ab"[i % 2]} for i, row in enumerate(pairs(12))]
NEEDING = {"confidence", "ece", "entropy_c", "entropy_f"}
CERTAIN = [1.0, 0.0, 0.0]
UNSURE = [0.7, 0.2, 0.1]


def unsure_of_reversed(texts: list[Any]) -> list[list[float]]:
    """Probabilities, all 0 or 1 but for reversed texts: those begin with their last word."""
    return [UNSURE if b.startswith("b") and b[1].isdigit() else CERTAIN for _, b in texts]


def unsure_of_one_part(texts: list[Any]) -> list[list[float]]:
    """Probabilities, all 0 or 1 but for the second part."""
    return [UNSURE if int(re.findall(r"\d+", b)[0]) % 2 else CERTAIN for _, b in texts]


def labels_only(texts: list[Any]) -> list[str]:
    return [NLI.labels[0]] * len(texts)


@pytest.fixture(scope="module")
def reversed_unsure() -> Run:
    return audit(unsure_of_reversed, ROWS, q=1, with_=["sort", "reverse"], cache="off")


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("labelled") / "run"
    audit(labels_only, ROWS, q=1, with_=LEXICAL, group_by="part", cache="off", out=folder)
    return folder


def unmeasured(run: Run) -> set[str]:
    return {each.metric for each in run.omitted if each.reason == LABELS_ONLY}


def test_a_model_may_be_certain_of_all_texts_until_the_last_transformation(
    reversed_unsure: Run,
) -> None:
    run = reversed_unsure
    assert run.has_probabilities
    assert not unmeasured(run)
    assert run["original", "confidence"].value == 1
    assert run["sort", "confidence"].value == 1
    assert run["reverse", "confidence"].value == pytest.approx(0.7)
    assert run["sort", "ece"].value == pytest.approx(2 / 3)
    assert {"confidence", "reliability"} <= set(run.figures["sort"])
    assert {told["confidence"] for told in run.telling} == {1.0}
    assert run.references["C: bag of words"][0].transformation == "sort"
    assert "confidence" in {record.metric for record in run.references["C: bag of words"]}


def test_a_model_may_be_certain_of_a_group() -> None:
    run = audit(unsure_of_one_part, ROWS, q=1, with_="shuffle", group_by="part", cache="off")
    assert not unmeasured(run)
    assert run["original", "confidence", "part=a"].value == 1
    assert run["original", "confidence", "part=b"].value == pytest.approx(0.7)


def test_labels_have_nothing_of_probabilities(labelled: Path) -> None:
    run = read_run(labelled)
    assert run.has_probabilities is False
    assert unmeasured(run) == NEEDING - {"entropy_c", "entropy_f"}
    records = [*run.scores, *(each for some in run.references.values() for each in some)]
    assert NEEDING.isdisjoint(record.metric for record in records)
    assert all({"confidence", "reliability"}.isdisjoint(tables) for tables in run.figures.values())
    told = [*run.telling, *(variant for each in run.telling for variant in each["variants"])]
    assert told
    assert {each["confidence"] for each in told} == {None}


def test_a_run_that_is_read_back_knows_it(reversed_unsure: Run) -> None:
    finished = FinishedRun.open(reversed_unsure)
    outcomes = finished.outcomes("sort")
    assert outcomes is not None
    assert outcomes.has_probabilities


def test_no_mean_confidence_of_labels(labelled: Path) -> None:
    found = [outcomes for _, outcomes in outcomes_of(labelled, LEXICAL)]
    assert mean_over_transformations(found, "agreement").n == len(ROWS)
    with pytest.raises(NothingToMeasure, match="labels without probabilities"):
        mean_over_transformations(found, "confidence")
    table = SaladScores("confidence", transformations=LEXICAL, chance=True)
    cells = list(table.cells(read_run(labelled), labelled, {}))
    assert [cell.row["transformation"] for cell in cells] == ["chance"]


@pytest.mark.parametrize(("model", "n"), [(labels_only, 0), (unsure_of_one_part, 1)])
def test_prediction_stops_on_confidence_only_where_there_is_any(model: Any, n: int) -> None:
    run = audit(model, ROWS, q=1, with_="sort", stop_when="width(confidence) < 0.99", cache="off")
    assert len(run.stopped) == n


def test_a_gate_is_decided_early_on_confidence_where_there_is_any() -> None:
    rule = "sort:confidence < 0.01"
    run = audit(unsure_of_one_part, pairs(60), q=1, with_="sort", fail_if=rule, cache="off")
    assert [stopped.metric for stopped in run.stopped] == ["confidence"]


def test_a_gate_is_not_decided_early_on_the_confidence_of_labels(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"q": 1, "with_": "sort", "cache": "off", "out": tmp_path / "run"}
    with pytest.raises(DisorderError, match="sort:confidence was not measured"):
        audit(labels_only, pairs(60), fail_if="sort:confidence < 0.01", **settings)
    run = read_run(tmp_path / "run")
    assert not run.stopped
    assert run.n_examples == 60
