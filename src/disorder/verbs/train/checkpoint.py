"""Can a killed training go on as if nothing had happened? Everything that a later step depends on,
on disk, never pickled.

A checkpoint is a folder of safetensors files and state.json. It is written beside the last one,
then the name of the newest is changed in one step, so a kill at any moment leaves a original one.
Draws need no keeping: they depend on seed and step alone.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from disorder.errors import BadData

NEWEST = "newest.json"


@dataclass
class TrainingState:
    """How far training is."""

    phase: int = 0
    epoch: int = 0
    step: int = 0  # within the epoch
    loss: float = 0.0  # summed over the rows of the epoch so far
    n_rows: int = 0
    best: list[float] | None = (
        None  # dev score, then minus the dev loss: what decides which epoch is best
    )
    best_epoch: int = 0
    waited: int = 0
    seconds: float = 0.0
    n_learned: int = 0
    curve: list[dict[str, Any]] = field(default_factory=list)
    after: dict[str, Any] = field(default_factory=dict)


@dataclass
class Checkpoints:
    """The checkpoints of one training."""

    folder: Path

    def write(self, state: TrainingState, tensors: Mapping[str, Mapping[str, Any]]) -> None:
        """Write one, then forget the one before."""
        from safetensors.torch import save_file

        name = f"{state.phase}-{state.epoch}-{state.step}"
        place = self.folder / name
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        for kind, named in tensors.items():
            copies = {
                key: value.detach().cpu().contiguous().clone() for key, value in named.items()
            }
            save_file(copies, place / f"{kind}.safetensors")
        (place / "state.json").write_text(json.dumps(asdict(state)), encoding="utf-8")
        temporary = self.folder / f"{NEWEST}.new"
        temporary.write_text(json.dumps(name), encoding="utf-8")
        temporary.replace(self.folder / NEWEST)
        for other in self.folder.iterdir():
            if other.is_dir() and other.name != name:
                shutil.rmtree(other)

    def read(self) -> tuple[TrainingState, dict[str, dict[str, Any]]] | None:
        """The newest one; None where training was stopped before the first."""
        from safetensors.torch import load_file

        if not (self.folder / NEWEST).exists():
            return None
        try:
            place = self.folder / json.loads((self.folder / NEWEST).read_text(encoding="utf-8"))
            state = TrainingState(**json.loads((place / "state.json").read_text(encoding="utf-8")))
            return state, {
                path.stem: load_file(path) for path in sorted(place.glob("*.safetensors"))
            }
        except (OSError, ValueError, TypeError) as error:
            raise BadData(
                f"the checkpoint in {self.folder} is damaged ({error}); train again without --resume"
            ) from None

    def clear(self) -> None:
        """Forget them all: training is done."""
        shutil.rmtree(self.folder, ignore_errors=True)


def optimizer_tensors(optimizer: Any, names: Mapping[Any, str]) -> dict[str, Any]:
    """The optimizer's state by the names of its parameters."""
    return {
        f"{names[p]}/{key}": value
        for p, state in optimizer.state.items()
        for key, value in state.items()
    }


def restore_optimizer(optimizer: Any, names: Mapping[Any, str], tensors: Mapping[str, Any]) -> None:
    """Put back what `optimizer_tensors` gave."""
    for parameter, name in names.items():
        found = {
            key.rpartition("/")[2]: value
            for key, value in tensors.items()
            if key.rpartition("/")[0] == name
        }
        if found:
            optimizer.state[parameter] = {
                key: value.to(parameter.device) for key, value in found.items()
            }
