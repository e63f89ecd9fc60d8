"""Are the texts behind stored rows the ones that a model read, where they cannot be drawn
again?
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import disorder
from conftest import pairs
from disorder.data import read_data
from disorder.errors import BadSetting
from disorder.transformations import parse, stored_texts
from disorder.verbs.perturb import perturb


@pytest.mark.parametrize(
    "spec",
    [
        "drop_least",
        "repeat_most",
        "replace_least",
        "copy_one",
        "drop_least:side=a",
        "swap_texts+drop_least",
        "drop_least+sort:fidelity=released",
    ],
)
def test_stored_texts_are_those_that_the_model_got(
    spec: str, jsonl: Callable[..., Path], tmp_path: Path
) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    path = str(jsonl(pairs(6)))
    disorder.audit("uniform", path, with_=[spec], q=2, out=tmp_path / "run")
    parts = sorted((tmp_path / "run" / "samples").glob("01-*.parquet"))
    rows = [row for part in parts for row in pq.read_table(part).to_pylist()]
    examples = {example.id: example for example in read_data(path).examples}
    predicted = {
        (r["id"], r["variant"]): (r["text_a"], r["text_b"])
        for r in perturb(path, with_=spec, q=2, model="uniform")
    }
    assert sum(row["repeat"] == 0 for row in rows) == len(predicted) >= 6
    for row in rows:
        assert (
            stored_texts(examples[row["example"]], row) == predicted[row["example"], row["variant"]]
        )


@pytest.mark.parametrize(
    "spec", ["replace_least+drop_pos:tags=NOUN", "replace_least+reverse+drop_least"]
)
def test_what_was_written_has_no_classes_and_no_importance(spec: str) -> None:
    with pytest.raises(BadSetting, match="to come first"):
        parse(spec)
