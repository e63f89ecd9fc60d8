"""A trained model's folder: result.json for machines, README.md (a model card) for people; and
while training is under way its checkpoint: everything that a later step depends on, never pickled.

A checkpoint is a folder of safetensors files and state.json. Draws need no keeping: they depend on
seed and step alone.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel

from disorder.errors import BadData, CannotWrite, option
from disorder.results.render import render
from disorder.results.result import Result
from disorder.results.run_folder import RECORD, record_of, verb_of
from disorder.safe_io import read_json, reason, validated
from disorder.store.storage import cannot_write, make_folder, write_atomically
from disorder.store.store import Checkpoints
from disorder.types import ORIGINAL

LEGACY = "training.json"  # what older versions wrote for result.json
PACKAGES = ("disorder", "torch", "transformers", "numpy", "safetensors")
Record = dict[str, Any]


class TrainingRecord(BaseModel):
    """What must stand in the record of a training for anything to rely on it."""

    status: Literal["started", "done"]
    request: dict[str, Any]
    hashes: dict[str, str]


def write_record(folder: Path, result: Result) -> None:
    """Write result.json in one step."""
    make_folder(folder)
    text = render(result, "json")
    write_atomically(folder / RECORD, text.encode("utf-8", "backslashreplace"))


def is_training(folder: Path) -> bool:
    """Whether a folder holds a training, finished or not, or a record that cannot be read."""
    return record_of(folder, LEGACY).exists() and verb_of(folder) in ("train", "")


def read_record(folder: Path) -> Record:
    """The record of the training in a folder."""
    if not is_training(folder):
        raise BadData(f"{folder} holds no training")
    path = record_of(folder, LEGACY)
    record: Record = read_json(path)
    validated(TrainingRecord, record, str(path))
    return record


@contextmanager
def saving_weights(folder: Path) -> Iterator[None]:
    """What libraries raise while they write weights, as the line for a folder without room."""
    from safetensors import SafetensorError

    try:
        yield
    except OSError as error:
        raise cannot_write(folder, error) from None
    except SafetensorError as error:
        raise CannotWrite(f"{folder} cannot be written ({reason(error)})") from None


def versions() -> dict[str, str]:
    """The versions of Python and of the packages that decide the numbers."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def write_card(folder: Path, record: Record) -> None:
    """Write README.md."""
    request = record["request"]
    score = record["score"]
    metric = score["metric"]
    settings = ", ".join(f"{name}={value}" for name, value in request["settings"].items())
    curve = "\n".join(
        f"| {r['phase']} | {r['epoch']} | {r['loss']:.4f} | {r['dev']:.4f} |"
        for r in record["curve"]
    )
    text = f"""# {request["model"]} trained by `disorder train {request["recipe"]}`

Trained on `{request["data"]}` ({record["n_train"]:,} examples{_perturbed(record)}),
seed {request["seed"]}, settings: {settings or "the defaults"}.
Predicts: {", ".join(record["labels"]) or "a number"}.

Dev {metric}: {score["value"]:.3f} (95 % interval {score["low"]:.3f} to {score["high"]:.3f},
{score["n"]:,} examples, {_dev_source(record)}). {learned_nothing(record)}

| phase | epoch | training loss | dev {metric} |
| --- | --- | --- | --- |
{curve}

Does it read, or only count words? `disorder audit {record["spec"]} DATA`

All facts of this training are in `result.json`. Weights are safetensors
(a bag of words: an .npz array), never pickled.
"""
    write_atomically(folder / "README.md", text.encode("utf-8", "backslashreplace"))


def learned_nothing(record: Record) -> str:
    """That a model does not do better than one constant answer; empty where it does."""
    score = record["score"]
    constant = record.get("best_constant")
    if constant is None or score["low"] > constant:
        return ""
    what = "guessing" if score["metric"] == "spearman" else "always giving the commonest label"
    return (
        f"This model learned nothing that shows: {what} scores {constant:.3f}. Train it longer "
        "(epochs=…), on more data, or with another lr=…"
    )


def _perturbed(record: Record) -> str:
    if record["request"]["recipe"] != "plain":
        return f"; perturbed copies by `{'`, `'.join(record['skips'])}`" if record["skips"] else ""
    on = record["on"]
    return "" if set(on) == {ORIGINAL} else f"; texts: `{'`, `'.join(on)}`"


def _dev_source(record: Record) -> str:
    """Where the dev examples come from, and what they were used for beside this score."""
    if record.get("dev_was_trained_on"):
        return "a tenth of the training data, which was trained on too: no estimate for new texts"
    dev = record["request"]["dev"]
    source = f"`{dev}`" if dev else "held out of the training data"
    is_last = record["request"]["settings"].get("epoch") == "last"
    return (
        f"{source}; {'the last epoch stayed' if is_last else 'the same examples chose the epoch'}"
    )


STATE = "state.json"


@dataclass
class TrainingState:
    """How far training is."""

    phase: int = 0
    epoch: int = 0
    step: int = 0  # within the epoch
    loss: float = 0.0  # summed over the rows of the epoch so far
    n_rows: int = 0
    best: list[float] | None = None  # dev score, then minus the dev loss: they choose the epoch
    best_epoch: int = 0
    waited: int = 0  # epochs since the best one
    seconds: float = 0.0
    n_learned: int = 0  # rows, over all epochs and phases
    n_updates: int = 0  # of the weights
    curve: list[dict[str, Any]] = field(default_factory=list)
    after: dict[str, Any] = field(default_factory=dict)

    def start_epoch(self) -> None:
        """Count one epoch as done."""
        self.epoch += 1
        self.step = 0
        self.loss = 0.0
        self.n_rows = 0

    def start_phase(self) -> None:
        """Count one phase as done."""
        self.phase += 1
        self.epoch = 0
        self.best = None
        self.best_epoch = 0
        self.waited = 0


# the state, and tensors by kind (network, best, optimizer) and name
Checkpoint = tuple[TrainingState, dict[str, dict[str, Any]]]


def write_checkpoint(
    checkpoints: Checkpoints, state: TrainingState, tensors: Mapping[str, Mapping[str, Any]]
) -> None:
    """Write the state and the tensors of a training."""
    from safetensors.torch import save_file

    def fill(folder: Path) -> None:
        with saving_weights(folder):
            folder.mkdir(parents=True)
            for kind, named in tensors.items():
                copies = {
                    key: value.detach().cpu().contiguous().clone() for key, value in named.items()
                }
                save_file(copies, folder / f"{kind}.safetensors")
            (folder / STATE).write_text(json.dumps(asdict(state)), encoding="utf-8")

    checkpoints.write(f"{state.phase}-{state.epoch}-{state.step}", fill)


def read_checkpoint(checkpoints: Checkpoints) -> Checkpoint | None:
    """The newest one; None where training was stopped before the first."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        folder = checkpoints.newest()
        if folder is None:
            return None
        path = folder / STATE
        state: TrainingState = validated(TrainingState, read_json(path), str(path))
        paths = sorted(folder.glob("*.safetensors"))
        return state, {path.stem: load_file(path) for path in paths}
    except (OSError, ValueError, TypeError, SafetensorError, BadData) as error:
        raise BadData(
            f"the checkpoint in {checkpoints.folder} is damaged ({reason(error)}); "
            f"train again without {option('resume')}"
        ) from None
