"""The examples and samples of a run folder, read for the few columns that a task needs."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from disorder.errors import BadData

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
    """The rows of some transformations, and of some examples if given."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.dataset as ds

    def is_one_of(column: str, names: Collection[str]) -> Any:
        return pc.field(column).cast(pa.string()).isin(pa.array(sorted(names), pa.string()))

    wanted = is_one_of("transformation", transformations)
    if examples is not None:
        wanted &= is_one_of("example", examples)
    parts = sorted((folder / "samples").glob("*.parquet"))
    try:
        for batch in ds.dataset(parts).to_batches(columns=columns, filter=wanted):
            yield from batch.to_pylist()
    except (OSError, pa.ArrowInvalid) as error:
        reason = str(error).splitlines()[0]
        raise BadData(f"{folder / 'samples'} cannot be read ({reason})") from None
