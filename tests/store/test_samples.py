"""Samples as they are written and read: what an older version wrote is read in today's columns."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from disorder.errors import BadData, DisorderError
from disorder.store.sample_parts import SampleParts
from disorder.store.samples import SCHEMA, no_answers_of, sample_table
from disorder.types import Example
from disorder.types.predictions import Predictions
from disorder.verbs.audit import audit, resume
from disorder.verbs.compare import FinishedRun

EXAMPLES = [Example.of(str(i), "a b c", None, "x") for i in range(3)]


def answers() -> Predictions:
    outcomes = np.array(["answered", "failed: the model refused", "answered"], dtype=object)
    values = np.array([[0.9, 0.1], [np.nan, np.nan], [0.1, 0.2]])
    return Predictions(values, outcomes)


def test_every_row_has_its_outcome() -> None:
    table = sample_table("original", ("x", "y"), EXAMPLES, [None] * 3, answers())
    assert table["outcome"].to_pylist() == ["answered", "failed: the model refused", "abstained"]
    assert table["label"].to_pylist() == ["x", None, "invalid"]
    assert table["family"].to_pylist() == ["0", "1", "2"]
    assert table["repeat"].to_pylist() == [0, 0, 0]
    assert table["segment"].to_pylist() == [None, None, None]
    assert no_answers_of(table) == {"the model refused": 1}


def test_parts_of_an_older_version_are_read_in_todays_columns(tmp_path: Path) -> None:
    table = sample_table("derange", ("x", "y"), EXAMPLES, [None] * 3, answers())
    expected = table.set_column(
        table.schema.get_field_index("segment"),
        SCHEMA.field("segment"),
        pa.array(["text_b", "text_a+text_b", None]).cast(SCHEMA.field("segment").type),
    )
    older = table.drop_columns(["family", "repeat", "segment", "outcome", "n_variants"])
    older = older.append_column("side", pa.array(["b", "both", "none"]))
    older = older.append_column("no_answer", pa.array([None, "the model refused", None]))
    SampleParts.new(tmp_path).write("01-derange-00000.parquet", older, {})
    found = SampleParts.open(tmp_path, to_write=False).table()
    for name in set(SCHEMA.names) - {"n_variants", "probabilities"}:
        assert found[name].to_pylist() == expected[name].to_pylist(), name


def test_an_unfinished_run_of_an_older_version_is_not_resumed(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    given = {"limit": 5, "q": 2, "with_": "derange", "fidelity": "paper", "cache": "off"}
    audit("uniform", "builtin", out=folder, **given)
    state = json.loads((folder / "result.json").read_text())
    (folder / "result.json").write_text(json.dumps(state | {"status": "started"}))
    journal = folder / "samples" / "journal.jsonl"
    entries = [json.loads(line) for line in journal.read_text().splitlines()]
    for entry in entries:
        for name in ("transformation", "start", "examples"):
            del entry[name]
    journal.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    with pytest.raises(DisorderError, match="was begun by an earlier version"):
        resume(folder)
    (folder / "result.json").write_text(json.dumps(state))
    assert FinishedRun.open(folder).outcomes("derange") is not None


def test_the_segment_is_what_moved() -> None:
    run = audit("uniform", "builtin", limit=5, q=2, with_="derange", cache="off")
    samples = run.samples()
    assert set(samples["segment"].to_pylist()) == {None, "text_a+text_b"}
    assert samples["family"].to_pylist() == samples["example"].to_pylist()


def test_a_part_that_its_journal_does_not_know_is_one_line(tmp_path: Path) -> None:
    parts = SampleParts.new(tmp_path)
    parts.write("00-original-00000.parquet", SCHEMA.empty_table(), {})
    journal = tmp_path / "samples" / "journal.jsonl"
    entry = json.loads(journal.read_text())
    journal.write_text(json.dumps(entry | {"checksum": "00"}) + "\n")
    with pytest.raises(BadData, match="is missing or damaged"):
        SampleParts.open(tmp_path, to_write=False).table()
