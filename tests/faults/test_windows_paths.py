"""Paths as Windows has them: a drive's colon begins no spec, and every file that we write has a
name that Windows allows.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path, PureWindowsPath

import pytest

from conftest import pairs
from faults.laboratory import run
from faults.verbs import VERBS

pytestmark = pytest.mark.skipif(os.name == "nt", reason="simulates what is real there")
DATA = r"C:\texts\dev.jsonl"
MODEL = r"C:\models\mine.py"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with files that have such paths as their names."""
    (tmp_path / DATA).write_text("\n".join(map(json.dumps, pairs(12))))
    (tmp_path / MODEL).write_text("def predict(texts):\n    return ['neutral'] * len(texts)\n")
    return tmp_path


def test_a_drive_is_no_kind_of_model_and_no_name_of_data(place: Path) -> None:
    words = ["audit", f"{MODEL}:predict", DATA, "--q", "2", "--with", "shuffle_ngrams:n=2"]
    done = run(*words, "--cache", "off", cwd=place)
    assert done.code == 0, done.told
    [folder] = (place / "runs").iterdir()
    assert json.loads((folder / "run.json").read_text())["n_examples"] == 12
    assert _impossible(place / "runs") == []


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["audit", "builtin", r"D:\none\dev.csv"], r"D:\none\dev.csv: no such file"),
        (["audit", r"python:D:\none\mine.py:f", "builtin"], r"D:\none\mine.py: no such file"),
        (["audit", r"onnx:D:\none", "builtin"], r"onnx:D:\none: no such file or folder"),
        (["report", r"D:\none"], r"D:\none"),
    ],
)
def test_what_is_not_there_is_named_whole(place: Path, words: list[str], told: str) -> None:
    assert run(*words, cwd=place).is_one_line(told)


@pytest.mark.parametrize("name", ["sanity", "explain", "human make", "study"])
def test_every_file_of_a_verb_can_be_named_so(name: str, finished: Path, tmp_path: Path) -> None:
    done = run(*VERBS[name].typed(tmp_path / "out", finished), cwd=tmp_path)
    assert done.code == 0, done.told
    assert any((tmp_path / "out").iterdir())
    assert _impossible(tmp_path / "out") == []


def _impossible(folder: Path) -> list[str]:
    """Names below a folder that Windows refuses: signs, devices, a dot or a space at the end."""
    names = [path.name for path in folder.rglob("*")]
    return [
        name
        for name in names
        if re.search(r'[<>:"/\\|?*\x00-\x1f]|[. ]$', name) or PureWindowsPath(name).is_reserved()
    ]
