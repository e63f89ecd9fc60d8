"""The examples and samples of a run folder, read for the few columns that a task needs."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from disorder.store.sample_parts import SampleParts

SampleRow = dict[str, Any]


def read_predictions(folder: Path, transformation: str) -> dict[str, list[tuple[int, str]]]:
    """The variants of every example under one transformation, with the predicted labels."""
    found: dict[str, list[tuple[int, str]]] = {}
    for row in read_samples(folder, {transformation}, ["example", "variant", "label"]):
        found.setdefault(row["example"], []).append((row["variant"], row["label"]))
    return found


def read_written_texts(folder: Path, transformation: str) -> dict[str, list[SampleRow]]:
    """The stored variants of every example under a transformation that keeps its texts."""
    columns = ["example", "variant", "positions_a", "positions_b", "written_a", "written_b"]
    found: dict[str, list[SampleRow]] = {}
    for row in read_samples(folder, {transformation}, columns):
        found.setdefault(row["example"], []).append(row)
    return found


def read_positions(
    folder: Path, transformations: Collection[str], examples: Collection[str]
) -> Iterator[SampleRow]:
    """The stored word positions of some examples."""
    columns = ["example", "transformation", "variant", "positions_a", "positions_b"]
    return read_samples(folder, transformations, columns, examples=examples)


def read_samples(
    folder: Path,
    transformations: Collection[str],
    columns: list[str],
    *,
    examples: Collection[str] | None = None,
) -> Iterator[SampleRow]:
    """The rows of some transformations, and of some examples if given; each part is checked."""
    parts = SampleParts.open(folder, to_write=False)
    for name in sorted(parts.known):
        table = parts.read(name)
        wanted = _is_one_of(table["transformation"], transformations)
        if examples is not None:
            wanted = pc.and_(wanted, _is_one_of(table["example"], examples))
        yield from table.filter(wanted).select(columns).to_pylist()


def _is_one_of(column: pa.ChunkedArray, names: Collection[str]) -> pa.ChunkedArray:
    return pc.is_in(column.cast(pa.string()), value_set=pa.array(sorted(names), pa.string()))
