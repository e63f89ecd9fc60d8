"""Comparisons of many trainings (designs, mitigations): data is read once, and what was trained
before is not trained again.

A finished training is reused, one that was stopped is resumed; a folder that holds another training
is an error.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from disorder.errors import BadData, DisorderError, option
from disorder.requests.option import declared_in
from disorder.requests.train import EachTrainingOptions
from disorder.results.progress import OVERALL
from disorder.store.store import Store
from disorder.types import Dataset, Progress
from disorder.verbs.selected_data import check_has_labels, selected_data
from disorder.verbs.train.folder import is_training, read_record
from disorder.verbs.train.request import (
    CheckedRequest,
    TrainingRequest,
    build_job,
    check_request,
    spelled,
    training_request,
)
from disorder.verbs.train.training import changed_since, new_record, run_training

EQUAL_ARMS = {"patience": "0", "unperturbed": "keep"}


@dataclass(frozen=True)
class TrainingSource:
    """Training data as the user named it, read once for all trainings of a comparison."""

    given: Any
    read: Dataset

    @classmethod
    def of(cls, request: TrainingRequest) -> TrainingSource:
        """Read all training data of a request; how much a training takes is drawn by its seed."""
        return cls(request.data, selected_data(request.data, request.reading))


def train_once(
    request: TrainingRequest,
    source: TrainingSource,
    *,
    out: Path,
    progress: Progress | None = None,
) -> str:
    """The spec of the model that this request trains, or has trained before in `out`."""
    checked = check_request(request)
    with Store.open(out):
        return _trained(checked, source, out, progress)


def _trained(
    checked: CheckedRequest, source: TrainingSource, out: Path, progress: Progress | None
) -> str:
    request = checked.request
    if not is_training(out):
        return run_training(checked, out, progress, data=source.read).spec
    record = read_record(out)
    requested = json.loads(json.dumps(request.recorded()))
    if _deciding(record["request"]) != _deciding(requested):
        raise DisorderError(f"{out} holds another training; choose another {option('out')}")
    if record["status"] != "done":
        return run_training(checked, out, progress, is_resumed=True, data=source.read).spec
    now = new_record(checked, build_job(checked, source.read))
    if changed := changed_since(record, now):
        told = [f"another {name}" if "model" in name else f"other {name}" for name in changed]
        raise DisorderError(
            f"{out} holds a training on {' and '.join(told)} (it has changed since); choose "
            f"another {option('out')}"
        )
    return f"{checked.start.name}:{out}"  # not what the record says: that may name anything


def _deciding(request: Mapping[str, Any]) -> dict[str, Any]:
    """What decides the weights: everything in a request but the device; trainings of before wrote
    perturbed copies as the paper does.
    """
    return {"fidelity": "paper"} | {k: v for k, v in request.items() if k != "device"}


def comparison_request(data: Any, options: Mapping[str, object]) -> TrainingRequest:
    """The request for the trainings of a comparison, of which none stops early and none leaves an
    example out, so that all learn from as much.
    """
    shared = declared_in(EachTrainingOptions)
    own = {name: value for name, value in options.items() if name in shared}
    request = training_request("plain", data, own)
    return replace(request, fidelity="paper", settings={**EQUAL_ARMS, **request.settings})


@dataclass(frozen=True)
class TrainingCounts:
    """How much a model learned from: examples (and how many as they were), rows, updates."""

    n_examples: int
    n_rows: int
    n_updates: int
    n_epochs: int
    n_unperturbed: int

    @classmethod
    def of(cls, folder: Path) -> TrainingCounts:
        """Those of the training in a folder."""
        record = read_record(folder)
        if "n_updates" not in record:
            raise DisorderError(
                f"{folder} holds a training of an older version, which did not count its updates; "
                f"choose another {option('out')}"
            )
        return cls(
            n_examples=int(record["n_train"]),
            n_rows=int(record["n_rows"]),
            n_updates=int(record["n_updates"]),
            n_epochs=len(record["curve"]),
            n_unperturbed=sum(sum(reasons.values()) for reasons in record["skips"].values()),
        )

    def after(self, first: TrainingCounts) -> TrainingCounts:
        """The counts of a training that continued from another one."""
        return TrainingCounts(
            self.n_examples,
            self.n_rows + first.n_rows,
            self.n_updates + first.n_updates,
            self.n_epochs + first.n_epochs,
            self.n_unperturbed,
        )


def read_test_data(verb: str, test: Any, limit: int | None, request: TrainingRequest) -> Dataset:
    """The test data of a comparison; the same examples for every model and seed."""
    found = selected_data(spelled(test), replace(request.reading, limit=limit))
    check_has_labels(found, verb)
    if found.task.is_regression:
        raise BadData(f"{found.name}: {verb} counts correct labels, and this data has numbers")
    return found


def folder_name(*words: str) -> str:
    """Words of a spec as the name of a folder."""
    return "".join(char if char.isalnum() else "-" for char in " ".join(words).strip())


def training_name(seed: int, name: str) -> str:
    """What progress calls one of the trainings that are compared."""
    return f"seed {seed}, {name}"


def with_prefix(progress: Progress | None, name: str) -> Progress | None:
    """The same callback, with the name of the model before every stage."""
    if progress is None:
        return None

    def told(stage: str, done: int, total: int, note: str) -> None:
        progress(stage if stage == OVERALL else f"{name}: {stage}", done, total, note)

    return told
