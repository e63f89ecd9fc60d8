"""Are the texts behind stored rows the ones that a model was asked, where they cannot be drawn again?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import disorder
from conftest import pairs
from disorder.broken import broken
from disorder.data import read
from disorder.perturb import parse, stored_texts


@pytest.mark.parametrize("spec", ["drop_least", "repeat_most", "replace_least", "copy_one", "drop_least:side=a"])
def test_stored_texts_are_those_that_were_asked(spec: str, jsonl: Callable[..., Path], tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    path = str(jsonl(pairs(6)))
    disorder.audit("uniform", path, transformations=[spec], q=2, out=tmp_path / "run")
    parts = sorted((tmp_path / "run" / "samples").glob("01-*.parquet"))
    rows = [row for part in parts for row in pq.read_table(part).to_pylist()]
    data, chosen = read(path), parse(spec)
    examples = {example.id: example for example in data.examples}
    asked = {
        (r["id"], r["variant"]): (r["text_a"], r["text_b"]) for r in broken(path, spec, q=2, model="uniform")
    }
    assert len(rows) == len(asked) >= 6
    for row in rows:
        texts = stored_texts(chosen, examples[row["example"]], data.task, row)
        assert texts == asked[row["example"], row["variant"]]


def test_tokens_of_a_model_cannot_be_cut_again() -> None:
    data = read("builtin")
    chosen = parse("drop_least:fidelity=released")
    row = {"positions_a": None, "positions_b": [0], "written_a": None, "written_b": None}
    assert stored_texts(chosen, data.examples[0], data.task, row) is None
