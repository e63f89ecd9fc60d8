"""Checkpoints: everything that a later training step depends on, on disk, never pickled.

A checkpoint is a folder of safetensors files and state.json. It is written beside the last one,
then the name of the newest is changed in one step, so a kill at any moment leaves a complete one.
Draws need no keeping: they depend on seed and step alone.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from disorder.errors import BadData
from disorder.runs.storage import sync_tree, write_atomically
from disorder.untrusted_files import read_json, reason, validated
from disorder.verbs.train.folder import saving_weights

NEWEST = "newest.json"
NAME = re.compile(r"[0-9]+(-[0-9]+)*")  # of a checkpoint


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
    n_learned: int = 0
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


@dataclass(frozen=True)
class Checkpoint:
    """One checkpoint: the state, and tensors by kind (network, best, optimizer) and name."""

    state: TrainingState
    tensors: Mapping[str, dict[str, Any]]


@dataclass
class Checkpoints:
    """The checkpoints of one training."""

    folder: Path

    def write(self, state: TrainingState, tensors: Mapping[str, Mapping[str, Any]]) -> None:
        """Write one, then remove the one before."""
        name = f"{state.phase}-{state.epoch}-{state.step}"
        with saving_weights(self.folder / name):
            self._write_folder(self.folder / name, state, tensors)
        sync_tree(self.folder / name)
        write_atomically(self.folder / NEWEST, json.dumps(name).encode())
        for other in self.folder.iterdir():
            if NAME.fullmatch(other.name) and other.name != name:
                shutil.rmtree(other)

    def _write_folder(
        self, folder: Path, state: TrainingState, tensors: Mapping[str, Mapping[str, Any]]
    ) -> None:
        from safetensors.torch import save_file

        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for kind, named in tensors.items():
            copies = {
                key: value.detach().cpu().contiguous().clone() for key, value in named.items()
            }
            save_file(copies, folder / f"{kind}.safetensors")
        (folder / "state.json").write_text(json.dumps(asdict(state)), encoding="utf-8")

    def read(self) -> Checkpoint | None:
        """The newest one; None where training was stopped before the first."""
        from safetensors import SafetensorError
        from safetensors.torch import load_file

        if not (self.folder / NEWEST).exists():
            return None
        try:
            folder = self.folder / _plain_name(read_json(self.folder / NEWEST))
            path = folder / "state.json"
            state: TrainingState = validated(TrainingState, read_json(path), str(path))
            paths = sorted(folder.glob("*.safetensors"))
            return Checkpoint(state, {path.stem: load_file(path) for path in paths})
        except (OSError, ValueError, TypeError, SafetensorError, BadData) as error:
            raise BadData(
                f"the checkpoint in {self.folder} is damaged ({reason(error)}); "
                "train again without --resume"
            ) from None

    def clear(self) -> None:
        """Remove them all: training is done."""
        shutil.rmtree(self.folder, ignore_errors=True)


def _plain_name(name: Any) -> str:
    """The name of a folder beside, and of none elsewhere."""
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise ValueError(f"{NEWEST} names no checkpoint")
    return name
