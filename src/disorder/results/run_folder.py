"""The run folder: run.json, read and written, and a new run to begin with.

A run folder has run.json, examples.parquet and samples/*.parquet, written as the run goes.
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
from typing import Any

from disorder.errors import BadData
from disorder.results.run import SCHEMA_VERSION, Run
from disorder.results.run_checks import check_run
from disorder.safe_io import MAX_REASON, read_json, validated
from disorder.store.storage import place, write_atomically
from disorder.types import Dataset, Example
from disorder.visible_text import one_line

PACKAGES = ("disorder", "numpy", "onnxruntime", "tokenizers")


def new_run(
    model: str,
    data: str,
    dataset: Dataset,
    transformations: Sequence[str],
    settings: Mapping[str, Any],
    seed: int,
) -> Run:
    """A run that has just begun."""
    task = dataset.task
    return Run(
        model=model,
        data=data,
        task=task.name,
        labels=list(task.labels),
        breaks=task.breaks,
        reject_label=task.reject_label,
        default_label=task.default_label,
        language=task.language,
        is_likelihood=task.is_likelihood,
        chance=None if task.is_regression else task.chance,
        majority=majority_share(dataset.examples),
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


def majority_share(examples: Sequence[Example]) -> float:
    """The share of the most frequent gold label: what its constant answer has as accuracy."""
    labels = Counter(example.label for example in examples)
    return labels.most_common(1)[0][1] / len(examples)


def _git() -> str | None:
    """The commit of the folder the user works in, if it is a repository."""
    try:
        done = subprocess.run(
            ["git", "rev-parse", "HEAD"], capture_output=True, text=True, timeout=5, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None


def write_run(folder: Path, run: Run) -> None:
    """Write run.json in one step."""
    text = json.dumps(run.model_dump(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    write_atomically(folder / "run.json", text.encode("utf-8", "backslashreplace"))


def read_run(folder: str | Path) -> Run:
    """The run in a folder, on disk or at an address like s3://bucket/run."""
    is_path = hasattr(folder, "joinpath")  # shared storage has paths of its own class
    if not isinstance(folder, str) and not is_path:
        raise BadData(f"a run is read from a folder, not from {type(folder).__name__}")
    where = place(folder)
    path = where / "run.json"
    try:
        raw = read_json(path)
    except FileNotFoundError:
        raise BadData(f"{folder} is no run folder: it has no run.json") from None
    if not isinstance(raw, dict):
        raise BadData(f"{path} is damaged: it holds no object")
    found = raw.get("schema_version")
    if found != SCHEMA_VERSION:
        told = one_line(found)[:MAX_REASON]
        raise BadData(f"{path}: schema version {told}; this disorder reads {SCHEMA_VERSION}")
    run: Run = validated(Run, raw, str(path))
    check_run(run, str(path))
    return run.placed_in(where)
