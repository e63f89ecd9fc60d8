"""The files of a model: are they complete, and a hash of every one that can change a prediction.

The prediction cache and `--resume` trust a fingerprint, so it is made of all files of a folder but
those that are known to change nothing. A file that we have never heard of (an adapter, the external
data of an ONNX model, a template) counts. Where weights or a vocabulary are missing, transformers
draws weights at random or makes up a tokenizer: an audit of such a model would say nothing.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

from disorder.errors import BadData, BadModel
from disorder.models.outputs import FILE as CALIBRATION
from disorder.safe_io import read_json

CHUNK = 1 << 22  # bytes read at a time
UNREAD_SUFFIXES = (".md", ".log", ".html", ".png", ".svg")
# where ONNX keeps the name of a file with weights: the key "location" and its value, as protobuf
# writes a pair of strings (shorter than 128 bytes)
LOCATION = re.compile(rb"\n\x08location\x12([\x01-\x7f])", re.DOTALL)
# `LoadedModel` adds the calibration by itself; the others say how a model was trained
UNREAD_FILES = (
    CALIBRATION,
    "result.json",
    "training.json",
    "training_args.bin",
    "trainer_state.json",
)
ADAPTER = "adapter_config.json"
ADAPTER_WEIGHTS = "adapter_model.safetensors"
NO_VOCABULARY = (
    "has no vocabulary: put the files of its tokenizer into the folder (tokenizer.json, or those "
    "of tokenizer.save_pretrained)"
)


def folder_fingerprint(folder: Path) -> str:
    """A hash of the names and contents of the files in a folder, wherever the folder lies."""
    hashed = blake2b(digest_size=16)
    found = sorted({*_files(folder), *_external_data(folder)})
    for path in found:
        name = os.path.relpath(path, folder).replace(os.sep, "/")
        hashed.update(f"{name}\0{path.stat().st_size}\0".encode("utf-8", "surrogateescape"))
        _add_file(hashed, path)
    base = _adapted(folder)
    if base is not None:
        hashed.update(folder_fingerprint(base).encode())
    return hashed.hexdigest()


def files_fingerprint(files: Sequence[Path]) -> str:
    """A hash of some files of a model, whatever they are called, and of what an ONNX model keeps
    elsewhere.
    """
    hashed = blake2b(digest_size=16)
    others = [data for path in files for data in sorted(_kept_elsewhere(path))]
    for path in [*files, *others]:
        hashed.update(f"{path.stat().st_size}\0".encode())
        _add_file(hashed, path)
    return hashed.hexdigest()


def path_fingerprint(address: str) -> str:
    """The hash of a folder or a file; empty where there is none of that name."""
    path = Path(address).expanduser()
    if not address or not path.exists():
        return ""
    if path.is_dir():
        return folder_fingerprint(path)
    hashed = blake2b(digest_size=16)
    _add_file(hashed, path)
    return hashed.hexdigest()


def _add_file(hashed: Any, path: Path) -> None:
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            hashed.update(chunk)


def _external_data(folder: Path) -> Iterator[Path]:
    """Files that an ONNX model keeps weights in, whatever they are called and wherever they lie:
    as a log, hidden, in a folder of checkpoints.
    """
    for path in (*folder.glob("*.onnx"), *folder.glob("onnx/*.onnx")):
        yield from _kept_elsewhere(path)


def _kept_elsewhere(model: Path) -> Iterator[Path]:
    if model.suffix != ".onnx":
        return
    content = model.read_bytes()
    for found in LOCATION.finditer(content):
        length = found[1][0]
        name = content[found.end() : found.end() + length].decode("utf-8", "surrogateescape")
        path = model.parent / name
        if "\0" not in name and path.is_file():
            yield path


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


def _files(folder: Path, inside: tuple[Path, ...] = ()) -> Iterator[Path]:
    """The files that a prediction can depend on, also in folders inside, but for checkpoints of a
    training and runs that were written there.
    """
    here = folder.resolve()
    if here in inside:  # a link back to a folder above
        return
    for path in folder.iterdir():
        if path.name.startswith("."):
            continue
        if path.is_dir():
            if not path.name.startswith("checkpoint") and not (path / "run.json").exists():
                yield from _files(path, (*inside, here))
        elif path.suffix not in UNREAD_SUFFIXES and path.name not in UNREAD_FILES:
            yield path


def _adapted(folder: Path) -> Path | None:
    """The folder of the model that an adapter sits on, where that is local."""
    path = folder / ADAPTER
    if not path.is_file():
        return None
    try:
        config = read_json(path)
    except BadData:
        return None
    base = config.get("base_model_name_or_path") if isinstance(config, dict) else None
    if not isinstance(base, str) or "\0" in base:
        return None
    return Path(base) if base and Path(base).is_dir() and Path(base) != folder else None


def check_complete(spec: str, tokenizer: Any, loading: Mapping[str, Any]) -> None:
    """Raise on a model without some of its weights or without a vocabulary; `loading` is what
    transformers says of the weights that it loaded.
    """
    missing = sorted(_not_in_adapter(loading["missing_keys"], Path(spec.partition(":")[2])))
    if missing:
        more = f" and {len(missing) - 1:,} more" if len(missing) > 1 else ""
        raise BadModel(
            f"{spec} has no weights for {missing[0]}{more}; they would be random: train the model "
            "for the task, or name the folder that it was saved to"
        )
    if len(tokenizer) <= len(set(tokenizer.all_special_ids)):
        raise BadModel(f"{spec} {NO_VOCABULARY}")


def _not_in_adapter(names: Any, folder: Path) -> set[str]:
    """The weights that an adapter does not bring: one for a classifier has the head."""
    path = folder.expanduser() / ADAPTER_WEIGHTS
    if not names or not path.is_file():
        return set(names)
    from safetensors import safe_open

    with safe_open(path, framework="numpy") as file:
        brought = tuple(file.keys())
    return {name for name in names if not any(key.endswith(f".{name}") for key in brought)}
