"""The papers' datasets are found by name, with the counts and the task that the papers give."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

from conftest import pairs
from disorder.data import guess_task, known_tasks, read_data
from disorder.errors import BadData, UnknownName
from disorder.registry import DataPart, parts

NLI = {"entailment": 0, "neutral": 1, "contradiction": 2}


@pytest.mark.parametrize(
    ("spec", "counts"),
    [
        ("mnli", {"neutral": 3123, "contradiction": 3213, "entailment": 3479}),
        ("mnli:mismatched", {"contradiction": 3240, "entailment": 3463, "neutral": 3129}),
        ("anli:r1", {"contradiction": 333, "entailment": 334, "neutral": 333}),
        ("ocnli:dev", {"entailment": 947, "neutral": 1103, "contradiction": 900}),
        ("cola", {"acceptable": 721, "unacceptable": 322}),
        ("mrpc", {"equivalent": 279, "not_equivalent": 129}),
        ("rte", {"not_entailment": 131, "entailment": 146}),
        ("sst2", {"positive": 444, "negative": 428}),
        ("qnli", {"entailment": 2702, "not_entailment": 2761}),
    ],
)
def test_named_sets_have_the_official_counts(
    shared_data: Path, spec: str, counts: dict[str, int]
) -> None:
    dataset = read_data(spec, data_dir=str(shared_data))
    assert Counter(example.label for example in dataset.examples) == counts
    assert set(dataset.task.labels) == set(counts)
    assert dataset.skipped == {}


def test_sts_b_is_a_regression(shared_data: Path) -> None:
    dataset = read_data("stsb", data_dir=str(shared_data))
    assert dataset.task.is_regression
    assert len(dataset.examples) == 1500
    assert all(0 <= float(example.label) <= 5 for example in dataset.examples)


def test_the_environment_says_where_the_data_is(
    shared_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISORDER_DATA", str(shared_data))
    assert len(read_data("rte").examples) == 277


@pytest.fixture
def own_data(tmp_path: Path) -> Path:
    """A data folder in the papers' layout with rows of our own."""
    labels = {"mnli": tuple(NLI), "rte": ("entailment", "not_entailment"), "stsb": ("0.5", "4.25")}
    for name, split in (("mnli", "dev_matched"), ("rte", "dev"), ("stsb", "dev")):
        (tmp_path / name).mkdir()
        with gzip.open(tmp_path / name / f"{split}.jsonl.gz", "wt", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in pairs(6, labels[name]))
    return tmp_path


def test_named_sets_are_found_in_a_folder_and_know_their_task(
    own_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = read_data("mnli", data_dir=str(own_data))
    assert Counter(example.label for example in dataset.examples) == dict.fromkeys(NLI, 2)
    assert dataset.task == known_tasks()["mnli"]
    assert read_data("mnli:matched", data_dir=str(own_data)).examples == dataset.examples
    assert read_data("stsb", data_dir=str(own_data)).task.is_regression
    monkeypatch.setenv("DISORDER_DATA", str(own_data))
    assert len(read_data("rte").examples) == 6


@pytest.mark.parametrize("name", [name for name, entry in parts(DataPart).items() if entry.splits])
def test_what_the_papers_break_reject_and_default_to(name: str) -> None:
    task = known_tasks()[name]
    breaks_second = {"mnli", "snli", "anli", "fever_nli", "ocnli", "rte", "xnli"}
    assert task.breaks == ("b" if name in breaks_second else "a")
    for label in (task.reject_label, task.default_label):
        assert label is None or label in task.labels
    entry = parts(DataPart)[name]
    assert entry.default_split in entry.splits
    assert task.language == ("zh" if name == "ocnli" else "en")


def test_labels_stand_in_the_order_of_the_hub() -> None:
    assert {label: i for i, label in enumerate(known_tasks()["mnli"].labels)} == NLI
    assert known_tasks()["rte"].labels == ("entailment", "not_entailment")
    assert known_tasks()["cola"].labels == ("unacceptable", "acceptable")


def test_a_file_is_given_the_task_that_its_labels_name() -> None:
    known = guess_task("mine", {"neutral", "entailment"}, is_pair=True)
    assert (known.name, known.labels, known.reject_label) == (
        "mine",
        known_tasks()["mnli"].labels,
        "neutral",
    )
    assert guess_task("mine", {"b", "a"}, is_pair=False).labels == ("a", "b")
    assert guess_task("mine", {"1", "2.5"}, is_pair=True).is_regression


def test_a_set_that_is_not_there_says_where_it_was_sought(tmp_path: Path) -> None:
    pytest.importorskip("datasets", reason="needs datasets")
    with pytest.raises(BadData, match=f"rte:dev: not in {tmp_path}"):
        read_data("rte", data_dir=str(tmp_path))
    with pytest.raises(UnknownName, match="did you mean 'matched'"):
        read_data("mnli:mached", data_dir=str(tmp_path))
