"""Task folders that were edited by hand are checked when they are read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from disorder.errors import BadData
from disorder.verbs.human.task_folder import read_annotators, read_instructions, read_task

LONG = "x" * 20


@pytest.mark.parametrize(
    ("people", "wrong"),
    [
        ([{"name": "a", "token": LONG}, {"name": "b", "token": LONG}], "same name or token"),
        ([{"name": "a", "token": LONG}, {"name": "a", "token": LONG + "y"}], "same name or token"),
        ([{"name": "a", "token": "1234"}], "token of 16"),
        ([{"name": "majority", "token": LONG}], "name that is not taken"),
        ([{"name": "a"}], "damaged"),
        (["a"], "damaged"),
    ],
)
def test_bad_links_are_an_error(tmp_path: Path, people: object, wrong: str) -> None:
    (tmp_path / "annotators.json").write_text(json.dumps(people))
    with pytest.raises(BadData, match=wrong):
        read_annotators(tmp_path)


def test_damaged_folders_are_an_error(tmp_path: Path) -> None:
    for content, wrong in (
        ("{", "damaged"),
        ("[]", "schema version"),
        ('{"schema_version": 9}', "schema version"),
    ):
        (tmp_path / "task.json").write_text(content)
        with pytest.raises(BadData, match=wrong):
            read_task(tmp_path)
    (tmp_path / "task.json").write_text('{"schema_version": 1}')
    with pytest.raises(BadData, match="kind"):
        read_task(tmp_path)
    assert read_instructions(tmp_path) == ""
