"""The instrument reads its own calibration weights: on the built-in data the results are known."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from disorder import load_model, read_data
from disorder.results.run import Run
from disorder.verbs.audit.pipeline import audit


@pytest.fixture(scope="module")
def bag() -> Run:
    return audit("builtin:bow", "builtin", with_=["derange"], q=100, limit=600)


@pytest.fixture(scope="module")
def reader() -> Run:
    return audit("builtin", "builtin", with_=["derange", "shuffle_ngrams"], q=10, limit=900)


def value(run: Run, transformation: str, metric: str, group: str = "all") -> float:
    record = run.score(transformation, metric, group)
    assert record is not None
    return record.value


class TestBagOfWords:
    def test_every_right_answer_survives_and_no_wrong_one_flips(self, bag: Run) -> None:
        assert value(bag, "derange", "p_c") == 1
        assert bag.score("derange", "p_f") is None
        assert any(entry.metric == "p_f" for entry in bag.omitted)

    def test_acceptance_at_any_threshold_is_accuracy(self, bag: Run) -> None:
        accuracy = value(bag, "original", "accuracy")
        assert accuracy == value(bag, "derange", "accuracy_used")
        for metric in ("omega_max", "omega_rand", "omega_all", "omega@0.5", "accuracy"):
            assert value(bag, "derange", metric) == accuracy

    def test_it_is_called_what_it_is(self, bag: Run) -> None:
        assert bag.verdict.startswith("Behaves like a bag of words: 1.00")

    def test_it_scores_exactly_chance_where_order_decides(self) -> None:
        data = read_data("builtin")
        model = load_model("builtin:bow", task=data)
        predicted = model([example.texts for example in data.examples]).argmax(axis=1)
        right: dict[str, list[bool]] = {"order": [], "words": []}
        for label, example in zip(predicted, data.examples, strict=True):
            right[example.groups["needs"]].append(data.task.labels[label] == example.label)
        assert 3 * sum(right["order"]) == len(right["order"])
        assert sum(right["words"]) > 0.8 * len(right["words"])


class TestReader:
    def test_it_reads_both_halves(self, reader: Run) -> None:
        for group in ("needs=words", "needs=order"):
            assert value(reader, "original", "accuracy", group) >= 0.9

    def test_its_sensitivity_is_near_1_where_order_decides_and_near_0_where_words_do(
        self, reader: Run
    ) -> None:
        assert abs(value(reader, "shuffle_ngrams", "wos", "needs=order") - 1) < 0.05
        assert abs(value(reader, "shuffle_ngrams", "wos", "needs=words")) < 0.05

    @pytest.mark.parametrize("task", ["sentiment", "acceptability"])
    def test_the_single_sentence_sets_are_read_too(self, task: str) -> None:
        # cut at spaces, a comma would stay with its word and tell
        spec = "shuffle_ngrams:words=simple"
        run = audit("builtin", f"builtin:{task}", with_=[spec], limit=600)
        for group in ("needs=words", "needs=order"):
            assert value(run, "original", "accuracy", group) >= 0.9
        assert abs(value(run, spec, "wos", "needs=order") - 1) < 0.15

    def test_small_enough_to_ship(self) -> None:
        from disorder.models.builtin import MODELS

        for folder in MODELS.iterdir():
            assert (
                sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) < 3_000_000
            )


def test_the_bare_command_works_and_stays_small(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "disorder", "audit"],
        cwd=tmp_path,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    rows = [
        [cell.strip() for cell in re.split(r"\s{2,}", line.strip())]
        for line in done.stdout.splitlines()
    ]
    told = {row[0]: row[2] for row in rows if len(row) == 4}
    assert told["a bag of words"] == "hardly uses word order"
    assert told["a mixed model"].startswith("uses word order for")
    assert told["a reader"].startswith("needs word order:")
    folders = list((tmp_path / "runs").iterdir())
    assert len(folders) == 2
    runs = [json.loads((folder / "run.json").read_text()) for folder in folders]
    assert [run["status"] for run in runs] == ["done", "done"]
    # half a minute of CPU time
    assert sum(run["n_predictions"] for run in runs) < 150_000
    for folder in folders:
        assert (folder / "report.html").stat().st_size > 10_000
    [reader] = [run for run in runs if run["model"] == "builtin"]
    assert reader["conclusions"]["needs=order"]["kind"] == "reads_order"
