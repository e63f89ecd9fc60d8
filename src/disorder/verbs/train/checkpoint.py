"""A checkpoint of a training: everything that a later step depends on, on disk, never pickled.

It is a folder of safetensors files and state.json. Draws need no keeping: they depend on seed and
step alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from disorder.errors import BadData, option
from disorder.safe_io import read_json, reason, validated
from disorder.store.store import Checkpoints
from disorder.verbs.train.folder import saving_weights

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


@dataclass(frozen=True)
class Checkpoint:
    """One checkpoint: the state, and tensors by kind (network, best, optimizer) and name."""

    state: TrainingState
    tensors: Mapping[str, dict[str, Any]]


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
        return Checkpoint(state, {path.stem: load_file(path) for path in paths})
    except (OSError, ValueError, TypeError, SafetensorError, BadData) as error:
        raise BadData(
            f"the checkpoint in {checkpoints.folder} is damaged ({reason(error)}); "
            f"train again without {option('resume')}"
        ) from None
