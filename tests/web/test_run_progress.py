"""The progress of a run: the expected number of parts is the number it has at its end."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import disorder
from conftest import pairs
from disorder.web.run_library import FoundRun, RunLibrary
from disorder.web.run_page import run_progress

BIG = {"q": 60, "with_": ["derange", "shuffle_ngrams:n=2", "reverse"], "cache": "off"}
BIG |= {"fidelity": "paper"}


def progress_in(folder: Path) -> dict[str, Any]:
    """The progress of the only run below a folder."""
    library = RunLibrary(folder)
    entry = library.all()[0]
    assert isinstance(entry, FoundRun)
    return run_progress(library, entry)


@pytest.mark.parametrize("settings", [{}, {"curtail": True}, {"q": 1}], ids=str)
def test_the_journal_of_a_finished_run_has_all_examples(
    settings: dict[str, Any], tmp_path: Path
) -> None:
    run = disorder.audit("uniform", pairs(150), out=tmp_path / "run", **(BIG | settings))
    lines = (tmp_path / "run" / "samples" / "journal.jsonl").read_text().splitlines()
    entries = [json.loads(line) for line in lines]
    for spec in ("original", *run.transformations):
        held = sorted((e["start"], e["examples"]) for e in entries if e["transformation"] == spec)
        assert sum(n for _, n in held) == 150
        assert [start for start, _ in held[1:]] == [start + n for start, n in held[:-1]]
    progress = progress_in(tmp_path)
    assert (progress["done"], progress["expected"]) == (600, 600)


def test_an_unfinished_run_counts_what_its_journal_has(tmp_path: Path) -> None:
    disorder.audit("uniform", pairs(150), out=tmp_path / "run", **BIG)
    journal = tmp_path / "run" / "samples" / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:3]) + lines[3][:20])
    path = tmp_path / "run" / "result.json"
    path.write_text(path.read_text().replace('"status": "done"', '"status": "started"'))
    progress = progress_in(tmp_path)
    assert (progress["status"], progress["done"], progress["expected"]) == (
        "started",
        150 + 2 * 68,
        4 * 150,
    )
    assert [step["done"] for step in progress["steps"]] == [150, 2 * 68, 0, 0]
    assert not progress["is_quiet"]
    shutil.rmtree(tmp_path / "run" / "samples")
    assert progress_in(tmp_path)["done"] == 0
