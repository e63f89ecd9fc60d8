"""A task that people answered fills the tables of people."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import disorder
from disorder.errors import DisorderError
from disorder.verbs.human import import_answers, make


@pytest.fixture
def answered(tmp_path: Path) -> Path:
    """Eight texts of which three people call the perturbed ones invalid."""
    folder = tmp_path / "task"
    make(
        "builtin",
        folder,
        task="valid",
        with_=["shuffle", "reverse"],
        n=8,
        annotators=["ann", "bob", "cat"],
    )
    key = [json.loads(line) for line in (folder / "key.jsonl").read_text().splitlines()]
    rows = [
        {
            "annotator": name,
            "item": entry["item"],
            "answer": "valid" if entry["transformation"] == "original" else "invalid",
        }
        for name in ("ann", "bob", "cat")
        for entry in key
    ]
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    import_answers(folder, path)
    return folder


def test_a_scored_task_fills_the_table_of_invalid_texts(answered: Path) -> None:
    found = disorder.study("ws/table4", str(answered))
    assert found.cell("invalid", transformation="original").value == 0
    assert found.cell("invalid", transformation="shuffle").value == 1
    printed = found.cell("invalid", transformation="shuffle").same
    assert printed is not None
    assert printed.printed == "94.20"
    assert any("answered by 3 people" in note for note in found.notes)


def test_without_a_task_the_item_says_what_to_type() -> None:
    found = disorder.study("ws/table4")
    assert not found.cells
    assert found.commands[-1] == "disorder study ws/table4 task"


def test_a_folder_that_nobody_answered_is_one_line(tmp_path: Path) -> None:
    make("builtin", tmp_path / "task", task="valid", with_=["shuffle"], n=4, annotators=["ann"])
    with pytest.raises(DisorderError, match="holds no answers yet"):
        disorder.study("ws/table4", str(tmp_path / "task"))
    with pytest.raises(DisorderError, match="is no task that people answered"):
        disorder.study("ws/table4", data=["builtin"])
