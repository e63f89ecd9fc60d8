"""How does a comparison of many trainings go on where it was stopped? What is there already is not
trained twice.

A training that is done is used again, one that was stopped goes on; a folder that holds another one
is never mixed in.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from disorder.errors import BadData, BadSetting, DisorderError
from disorder.runs.settings import Settings
from disorder.types import Dataset, Progress
from disorder.verbs.selected_data import selected_data
from disorder.verbs.train.folder import read_record
from disorder.verbs.train.training import Request, carry_out, check, job_of, new_record, written


@dataclass(frozen=True)
class Source:
    """Training data as the user named it, read once for all trainings of a comparison."""

    given: Any
    read: Dataset


def source(data: Any, asked: Mapping[str, Any]) -> Source:
    """Read the training data, all of it: how much of it a training takes is drawn by its seed."""
    return Source(data, selected_data(data, Settings(**_named(asked))))


def train_once(
    recipe: str, data: Source, *, out: Path, progress: Progress | None = None, **asked: Any
) -> str:
    """The spec of the model that this training makes, or has made."""
    request = Request(recipe, data.given, **asked)
    checked = check(request)
    if not (out / "training.json").exists():
        return carry_out(checked, out, progress, is_resumed=False, data=data.read).spec
    record = read_record(out)
    if _words(record["request"]) != _words(json.loads(json.dumps(written(request)))):
        raise DisorderError(f"{out} holds another training; choose another --out")
    if record["status"] != "done":
        return carry_out(checked, out, progress, is_resumed=True, data=data.read).spec
    if record["hashes"] != new_record(checked, job_of(checked, data.read))["hashes"]:
        raise DisorderError(
            f"{out} holds a training on other data (it has changed since); choose another --out"
        )
    return str(record["spec"])


def _words(request: Mapping[str, Any]) -> dict[str, Any]:
    """What decides the weights: all that was asked but the device."""
    return {name: value for name, value in request.items() if name != "device"}


def data_to_ask(verb: str, test: Any, limit: int | None, asked: Mapping[str, Any]) -> Dataset:
    """The data that all models of a comparison are asked about; the same examples for every seed."""
    if limit is not None and limit < 1:
        raise BadSetting(verb, test_limit=limit, need="1 or more")
    found = selected_data(test, Settings(limit=limit, **_named(asked)))
    if found.task.is_regression:
        raise BadData(f"{found.name}: {verb} counts right labels, and this data asks for numbers")
    return found


def _named(asked: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: asked[name] for name in ("columns", "task", "data_dir") if asked.get(name) is not None
    }


def check_seeds(verb: str, seeds: int) -> None:
    """Raise unless there is a seed to train with."""
    if seeds < 1:
        raise BadSetting(verb, seeds=seeds, need="1 or more")


def folder_name(*words: str) -> str:
    """Words of a spec as the name of a folder."""
    return "".join(char if char.isalnum() else "-" for char in " ".join(words).strip())


def named(progress: Progress | None, name: str) -> Progress | None:
    """The same listener, told which model it hears of."""
    if progress is None:
        return None
    return lambda stage, done, total, note: progress(f"{name}: {stage}", done, total, note)
