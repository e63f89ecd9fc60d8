"""What does a run leave behind? run.json, examples.parquet and samples/*.parquet, written as the
run goes.
"""

from __future__ import annotations

import json
import platform
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel, Field, ValidationError

from disorder.errors import BadData, DisorderError
from disorder.runs.storage import write_atomically
from disorder.runs.samples import storable
from disorder.types import Dataset, Example, Score

SCHEMA_VERSION = 1
PACKAGES = ("disorder", "numpy", "onnxruntime", "tokenizers")
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
        )


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
    majority: float = 0.0
    transformations: list[str]
    breaks_order: list[str] = Field(default_factory=list)
    variants: dict[str, int] = Field(default_factory=dict)
    settings: dict[str, Any]
    seed: int
    started: str
    seconds: float = 0.0
    n_examples: int
    n_available: int
    n_predictions: int = 0
    profile: dict[str, float] = Field(default_factory=dict)
    notes: list[str] = Field(default_factory=list)
    stopped: dict[str, dict[str, Any]] = Field(default_factory=dict)
    versions: dict[str, str] = Field(default_factory=dict)
    git: str | None = None
    hashes: dict[str, str] = Field(default_factory=dict)
    taggers: list[str] = Field(default_factory=list)
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


def make_folder(folder: Path) -> None:
    """Make the folder of a run."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DisorderError(f"--out {folder} cannot be made ({error.strerror or error})") from None


def new_run(
    model: str, data: str, dataset: Dataset, transformations: Sequence[str], settings: Mapping[str, Any], seed: int
) -> Run:
    """A run that has just begun."""
    return Run(
        model=model,
        data=data,
        task=dataset.task.name,
        labels=list(dataset.task.labels),
        chance=None if dataset.task.is_regression else dataset.task.chance,
        majority=Counter(example.label for example in dataset.examples).most_common(1)[0][1] / len(dataset.examples),
        transformations=list(transformations),
        settings=dict(settings),
        seed=seed,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        n_examples=len(dataset.examples),
        n_available=len(dataset.examples) + sum(dataset.skipped.values()),
        versions={name: version(name) for name in PACKAGES} | {"python": platform.python_version()},
        git=_git(),
        skips={"data": dict(dataset.skipped)},
    )


def _git() -> str | None:
    """The commit of the folder the user works in, if it is a repository."""
    try:
        done = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, timeout=5, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None


def write_run(folder: Path, run: Run) -> None:
    """Write run.json in one step."""
    text = json.dumps(run.model_dump(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    write_atomically(folder / "run.json", text.encode("utf-8", "backslashreplace"))


def read_run(folder: Path) -> Run:
    """The run in a folder."""
    path = folder / "run.json"
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        if raw.get("schema_version") != SCHEMA_VERSION:
            raise BadData(f"{path}: schema version {raw.get('schema_version')}; this disorder reads {SCHEMA_VERSION}")
        return Run.model_validate(raw)
    except (FileNotFoundError, NotADirectoryError):
        raise BadData(f"{folder} is no run folder: it has no run.json") from None
    except (ValueError, ValidationError, AttributeError, OSError) as error:
        raise BadData(f"{path} is damaged: {str(error).splitlines()[0]}") from None


def write_examples(folder: Path, examples: Sequence[Example]) -> None:
    """Write the examples of a run, so that its texts can be rebuilt from positions anywhere."""
    table = pa.table(
        {
            "id": [storable(e.id) for e in examples],
            "text_a": [storable(e.text_a) for e in examples],
            "text_b": pa.array([None if e.text_b is None else storable(e.text_b) for e in examples], pa.string()),
            "label": [e.label for e in examples],
            "groups": pa.array([list(e.groups.items()) for e in examples], pa.map_(pa.string(), pa.string())),
        }
    )
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    write_atomically(folder / "examples.parquet", sink.getvalue().to_pybytes())
