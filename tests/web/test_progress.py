"""Is the number of parts that a run is said to need the number it has at its end?"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import disorder
from conftest import pairs
from disorder.web.library import Library
from disorder.web.run_progress import expected_parts, progress

BIG = {"q": 60, "transformations": ["derange", "shuffle_ngrams:n=2", "reverse"], "cache": "off"}


@pytest.mark.parametrize("settings", [{}, {"curtail": True}, {"q": 1}], ids=str)
def test_a_finished_run_has_the_parts_that_were_expected(
    settings: dict[str, Any], tmp_path: Path
) -> None:
    run = disorder.audit("uniform", pairs(150), out=tmp_path / "run", **(BIG | settings))
    lines = (tmp_path / "run" / "samples" / "journal.jsonl").read_text().splitlines()
    parts = [json.loads(line)["part"] for line in lines]
    by_name = {
        name: sum(part.startswith(f"{i:02d}-") for part in parts)
        for i, name in enumerate(expected_parts(run))
    }
    assert by_name == expected_parts(run)
    assert sum(by_name.values()) == len(lines)
    found = Library(tmp_path).all()[0]
    far = progress(Library(tmp_path), found)
    assert (far["done"], far["expected"]) == (len(lines), len(lines))


def test_a_run_under_way_counts_what_the_journal_has_so_far(tmp_path: Path) -> None:
    disorder.audit("uniform", pairs(150), out=tmp_path / "run", **BIG)
    journal = tmp_path / "run" / "samples" / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:3]) + lines[3][:20])
    path = tmp_path / "run" / "run.json"
    path.write_text(path.read_text().replace('"status": "done"', '"status": "started"'))
    library = Library(tmp_path)
    far = progress(library, library.all()[0])
    assert (far["status"], far["done"], far["expected"]) == ("started", 3, len(lines))
    assert [step["done"] for step in far["steps"]] == [1, 2, 0, 0]
    assert not far["is_quiet"]
    shutil.rmtree(tmp_path / "run" / "samples")
    assert progress(library, library.all()[0])["done"] == 0
