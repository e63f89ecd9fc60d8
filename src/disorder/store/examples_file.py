"""The examples of a run, as its folder keeps them: texts are rebuilt from them and positions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from disorder.errors import BadData
from disorder.safe_io import read_parquet
from disorder.store.samples import storable
from disorder.store.storage import write_atomically
from disorder.types import Example

EXAMPLES = pa.schema(
    [
        ("id", pa.string()),
        ("text_a", pa.string()),
        ("text_b", pa.string()),
        ("label", pa.string()),
        ("groups", pa.map_(pa.string(), pa.string())),
    ]
)


def write_examples(folder: Path, examples: Sequence[Example]) -> None:
    """Write the examples of a run, so that its texts can be rebuilt from positions anywhere."""
    table = pa.table(
        {
            "id": [storable(e.id) for e in examples],
            "text_a": [storable(e.text_a) for e in examples],
            "text_b": pa.array(
                [None if e.text_b is None else storable(e.text_b) for e in examples], pa.string()
            ),
            "label": [e.label for e in examples],
            "groups": pa.array(
                [list(e.groups.items()) for e in examples], pa.map_(pa.string(), pa.string())
            ),
        }
    )
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    write_atomically(folder / "examples.parquet", sink.getvalue().to_pybytes())


def read_examples(folder: Path) -> list[Example]:
    """The examples of a run, in the order in which they were used."""
    try:
        table = read_parquet(folder / "examples.parquet", schema=EXAMPLES)
    except (FileNotFoundError, BadData) as error:
        why = "it is missing" if isinstance(error, FileNotFoundError) else error
        raise BadData(f"{folder}/examples.parquet: {why}; audit it again") from None
    rows = table.to_pylist()
    if any(row["id"] is None or row["text_a"] is None or row["label"] is None for row in rows):
        raise BadData(f"{folder}/examples.parquet: an id, a text or a label is missing")
    return [
        Example(row["id"], row["text_a"], row["text_b"], row["label"], dict(row["groups"] or ()))
        for row in rows
    ]
