"""Fingerprints of models: a hash of every file that can change a prediction.

The prediction cache and `--resume` trust a fingerprint, so it is made of all files of a folder but
those that are known to change nothing. A file that we have never heard of (an adapter, the external
data of an ONNX model, a template) counts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

from disorder.models.outputs.calibration import FILE as CALIBRATION

CHUNK = 1 << 22  # bytes read at a time
UNREAD_SUFFIXES = (".md", ".log", ".html", ".png", ".svg")
# `LoadedModel` adds the calibration by itself; the others say how a model was trained
UNREAD_FILES = (CALIBRATION, "training.json", "training_args.bin", "trainer_state.json")
ADAPTER = "adapter_config.json"


def folder_fingerprint(folder: Path) -> str:
    """A hash of the names and contents of the files in a folder, wherever the folder lies."""
    hashed = blake2b(digest_size=16)
    for path in sorted(_files(folder)):
        hashed.update(f"{path.relative_to(folder).as_posix()}\0{path.stat().st_size}\0".encode())
        with path.open("rb") as file:
            while chunk := file.read(CHUNK):
                hashed.update(chunk)
    base = _adapted(folder)
    if base is not None:
        hashed.update(folder_fingerprint(base).encode())
    return hashed.hexdigest()


def array_fingerprint(labels: tuple[str, ...], array: Any) -> str:
    """A hash of weights in memory and of the labels they are for."""
    hashed = blake2b(json.dumps(labels).encode(), digest_size=16)
    hashed.update(str((array.shape, array.dtype)).encode())
    hashed.update(array.tobytes())
    return hashed.hexdigest()


def hub_fingerprint(address: str, commit: str | None) -> str:
    """A folder's hash, or the commit of a model on the hub; empty where neither is known."""
    folder = Path(address).expanduser()
    if folder.is_dir():
        return folder_fingerprint(folder)
    return f"{address}@{commit}" if commit else ""


def _files(folder: Path) -> Iterator[Path]:
    """The files that a prediction can depend on, also in folders inside, but for checkpoints of a
    training and runs that were written there.
    """
    for path in folder.iterdir():
        if path.name.startswith("."):
            continue
        if path.is_dir():
            if not path.name.startswith("checkpoint") and not (path / "run.json").exists():
                yield from _files(path)
        elif path.suffix not in UNREAD_SUFFIXES and path.name not in UNREAD_FILES:
            yield path


def _adapted(folder: Path) -> Path | None:
    """The folder of the model that an adapter sits on, where that is local."""
    path = folder / ADAPTER
    if not path.is_file():
        return None
    try:
        base = json.loads(path.read_text(encoding="utf-8")).get("base_model_name_or_path") or ""
    except ValueError:
        return None
    return Path(base) if base and Path(base).is_dir() and Path(base) != folder else None
