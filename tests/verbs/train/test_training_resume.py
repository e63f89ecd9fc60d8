"""Resuming: a training killed with -9 in the middle of an epoch ends with the same bits as one that
was not.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import pairs
from disorder.errors import BadData, DisorderError
from disorder.verbs.train import resume, train

pytest.importorskip("torch", reason="needs torch")
pytest.importorskip("safetensors", reason="needs safetensors")

PROGRAM = """
import os, signal, sys
from disorder.verbs.train import train
def progress(stage, done, total, note):
    if sys.argv[2] == "killed" and stage == "epoch 2" and done >= 100:
        os.kill(os.getpid(), signal.SIGKILL)
train("plain", sys.argv[3], model="bilstm", seed=3, out=sys.argv[1], progress=progress,
      settings={"hidden": 16, "width": 16, "epochs": 3, "batch_size": 16, "save_every": 4,
                "dropout": 0.3, "patience": 0})
"""
AGAIN = "import sys; from disorder.verbs.train import resume; resume(sys.argv[1])"


def run(program: str, *arguments: str) -> int:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, "-c", program, *arguments], env=environment, check=False
    ).returncode


def test_killed_and_resumed_is_the_same_to_the_bit(
    tmp_path: Path, jsonl: Callable[..., Path]
) -> None:
    data = str(jsonl(pairs(220)))
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert run(PROGRAM, str(whole), "whole", data) == 0
    assert run(PROGRAM, str(killed), "killed", data) == -signal.SIGKILL
    assert not (killed / "model.safetensors").exists()
    assert (killed / "checkpoints" / "newest.json").exists()
    files = [path for path in killed.rglob("*") if path.is_file() and path.name != ".lock"]
    assert {path.suffix for path in files} <= {".json", ".safetensors"}
    assert run(AGAIN, str(killed)) == 0
    for name in ("model.safetensors", "vocabulary.json", "config.json"):
        assert (whole / name).read_bytes() == (killed / name).read_bytes(), name
    assert not (killed / "checkpoints").exists()
    with pytest.raises(DisorderError, match="is done"):
        resume(killed)


def test_a_training_stopped_in_its_first_phase_is_the_same_to_the_bit(
    tmp_path: Path, jsonl: Callable[..., Path]
) -> None:
    """The checkpoint is of the first phase: the second must not be restored from it."""
    rows = [{**row, "label": ("no", "yes")[i % 2]} for i, row in enumerate(pairs(40))]
    asked: dict[str, Any] = {
        "data": str(jsonl(rows)),
        "model": "convnet",
        "settings": {"hidden": 8, "width": 8, "epochs": 2, "batch_size": 8, "save_every": 1},
    }

    def stop(stage: str, *rest: object) -> None:
        if stage == "real or fake, epoch 2":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train("order_pretask", out=tmp_path / "stopped", progress=stop, **asked)
    resume(tmp_path / "stopped")
    train("order_pretask", out=tmp_path / "whole", **asked)
    stopped, whole = (tmp_path / name / "model.safetensors" for name in ("stopped", "whole"))
    assert stopped.read_bytes() == whole.read_bytes()


def test_a_checkpoint_of_another_network_is_one_line(
    tmp_path: Path, jsonl: Callable[..., Path]
) -> None:
    from safetensors.torch import load_file, save_file

    data = str(jsonl(pairs(40)))
    settings = {"hidden": 8, "width": 8, "save_every": 1, "epochs": 2}

    def stop(stage: str, *rest: object) -> None:
        if stage == "epoch 2":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train("plain", data, model="bilstm", out=tmp_path / "m", settings=settings, progress=stop)
    kept = next((tmp_path / "m" / "checkpoints").glob("*/network.safetensors"))
    save_file({name: value[:-1].clone() for name, value in load_file(kept).items()}, kept)
    with pytest.raises(BadData, match="does not fit the network"):
        resume(tmp_path / "m")


def test_there_must_be_something_to_resume(tmp_path: Path) -> None:
    with pytest.raises(BadData, match="holds no training"):
        resume(tmp_path / "nothing")
