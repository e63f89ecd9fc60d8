"""What does a run leave behind? run.json, examples.parquet and samples/*.parquet, written as the run goes."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel, Field, ValidationError

from disorder.errors import BadData, DisorderError
from disorder.types import Example, Floats, Score, Variants

SCHEMA_VERSION = 1
DIGITS = 6  # scores are rounded, so that the last bits of a sum do not show


class Record(BaseModel):
    """One score in the flat list of a run."""

    transformation: str
    metric: str
    group: str = "all"
    value: float
    low: float
    high: float
    n: int
    skipped: int

    @classmethod
    def of(cls, transformation: str, metric: str, group: str, score: Score) -> Record:
        """A record of a score."""
        value, low, high = (round(float(x), DIGITS) + 0.0 for x in (score.value, score.low, score.high))
        return cls(
            transformation=transformation, metric=metric, group=group, value=value, low=low, high=high, n=score.n,
            skipped=score.skipped,
        )  # fmt: skip


class Omitted(BaseModel):
    """A score that there was nothing to measure for."""

    transformation: str
    metric: str
    group: str
    reason: str


class Run(BaseModel):
    """All that is known of a run, as run.json holds it."""

    schema_version: int = SCHEMA_VERSION
    status: Literal["started", "done", "failed"] = "started"
    model: str
    data: str
    task: str
    labels: list[str]
    chance: float | None
    transformations: list[str]
    settings: dict[str, Any]
    seed: int
    started: str
    seconds: float = 0.0
    n_examples: int
    n_available: int
    n_predictions: int = 0
    versions: dict[str, str] = Field(default_factory=dict)
    git: str | None = None
    hashes: dict[str, str] = Field(default_factory=dict)
    verdict: str = ""
    scores: list[Record] = Field(default_factory=list)
    references: dict[str, list[Record]] = Field(default_factory=dict)
    omitted: list[Omitted] = Field(default_factory=list)
    skips: dict[str, dict[str, int]] = Field(default_factory=dict)
    dev_r: dict[str, dict[str, dict[str, int]]] = Field(default_factory=dict)
    figures: dict[str, Any] = Field(default_factory=dict)
    telling: list[dict[str, Any]] = Field(default_factory=list)
    error: str = ""

    def score(self, transformation: str, metric: str, group: str = "all") -> Record | None:
        """The record with this name, if it was measured."""
        wanted = (transformation, metric, group)
        return next((r for r in self.scores if (r.transformation, r.metric, r.group) == wanted), None)

    @property
    def groups(self) -> list[str]:
        """The groups that scores were split by."""
        return list(dict.fromkeys(record.group for record in self.scores if record.group != "all"))


def write_run(folder: Path, run: Run) -> None:
    """Write run.json in one step: a reader sees the old file or the new one, never half of it."""
    text = json.dumps(run.model_dump(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    write_atomically(folder / "run.json", text.encode("utf-8", "backslashreplace"))


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file beside its place, then move it there."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_bytes(content)
        beside.replace(path)
    except OSError as error:
        raise DisorderError(f"{path} cannot be written ({error.strerror or error})") from None


def read_run(folder: Path) -> Run:
    """The run in a folder."""
    path = folder / "run.json"
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        if raw.get("schema_version") != SCHEMA_VERSION:
            raise BadData(f"{path}: schema version {raw.get('schema_version')}; this disorder reads {SCHEMA_VERSION}")
        return Run.model_validate(raw)
    except FileNotFoundError:
        raise BadData(f"{folder} is no run folder: it has no run.json") from None
    except (ValueError, ValidationError, AttributeError, OSError) as error:
        raise BadData(f"{path} is damaged: {str(error).splitlines()[0]}") from None


def write_examples(folder: Path, examples: Sequence[Example]) -> None:
    """Write the examples of a run, so that its texts can be rebuilt from positions anywhere."""
    table = pa.table(
        {
            "id": [e.id for e in examples],
            "text_a": [_storable(e.text_a) for e in examples],
            "text_b": pa.array([None if e.text_b is None else _storable(e.text_b) for e in examples], pa.string()),
            "label": [e.label for e in examples],
            "groups": pa.array([list(e.groups.items()) for e in examples], pa.map_(pa.string(), pa.string())),
        }
    )
    pq.write_table(table, folder / "examples.parquet")


def _storable(text: str) -> str:
    """Lone surrogates cannot be stored as UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8")


SAMPLE = pa.schema(
    [
        ("example", pa.string()),
        ("transformation", pa.dictionary(pa.int32(), pa.string())),
        ("variant", pa.int32()),
        ("side", pa.dictionary(pa.int32(), pa.string())),
        ("positions_a", pa.list_(pa.int32())),
        ("positions_b", pa.list_(pa.int32())),
        ("label", pa.dictionary(pa.int32(), pa.string())),
        ("probabilities", pa.list_(pa.float32())),
    ]
)


class Samples:
    """Writes a row a variant, block by block, to one file a transformation."""

    def __init__(self, folder: Path, number: int, transformation: str, labels: Sequence[str]) -> None:
        name = "".join(char if char.isalnum() else "-" for char in transformation)
        (folder / "samples").mkdir(exist_ok=True)
        self.path = folder / "samples" / f"{number:02d}-{name}.parquet"
        self.transformation, self.labels = transformation, labels
        self._writer = pq.ParquetWriter(self.path.with_suffix(".part"), SAMPLE, compression="zstd")

    def write(self, examples: Sequence[Example], variants: Sequence[Variants | None], answers: Sequence[Floats]) -> None:
        """Add all variants of some examples; None stands for the whole text."""
        rows = [row for group in zip(examples, variants, answers, strict=True) for row in self._rows(*group)]
        self._writer.write_table(pa.Table.from_pylist(rows, schema=SAMPLE))

    def close(self) -> None:
        """Finish the file and give it its name."""
        self._writer.close()
        self.path.with_suffix(".part").replace(self.path)

    def _rows(self, example: Example, variants: Variants | None, answers: Floats) -> list[dict[str, Any]]:
        positions = [(None, None)] if variants is None else variants.positions()
        side = "none" if variants is None else _side(variants)
        return [
            {
                "example": _storable(example.id),
                "transformation": self.transformation,
                "variant": k,
                "side": side,
                "positions_a": a if side in ("a", "both") else None,
                "positions_b": b if side in ("b", "both") else None,
                "label": self.labels[int(answer.argmax())] if self.labels else None,
                "probabilities": answer.tolist(),
            }
            for k, ((a, b), answer) in enumerate(zip(positions, answers, strict=True))
        ]


def _side(variants: Variants) -> str:
    """Which texts differ from the original."""
    changed = [name for name, rows in zip("ab", variants.sides, strict=False) if not _is_whole(rows.positions)]
    return {0: "none", 1: "".join(changed)}.get(len(changed), "both")


def _is_whole(positions: Any) -> bool:
    return len(positions) == 1 and positions[0].tolist() == list(range(positions.shape[1])) and positions.shape[1] > 0
