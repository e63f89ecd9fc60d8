"""What does a trained folder say of itself? training.json for machines, README.md (a model card)
for people.
"""

from __future__ import annotations

import json
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from disorder.errors import BadData, DisorderError

PACKAGES = ("disorder", "torch", "transformers", "numpy", "safetensors")
Record = dict[str, Any]


def write_record(folder: Path, record: Record) -> None:
    """Write training.json in one step."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        temporary = folder / "training.json.new"
        temporary.write_text(
            json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
        )
        temporary.replace(folder / "training.json")
    except OSError as error:
        raise DisorderError(
            f"--out {folder} cannot be written ({error.strerror or error})"
        ) from None


def read_record(folder: Path) -> Record:
    """The training.json of a folder."""
    try:
        record: Record = json.loads((folder / "training.json").read_text(encoding="utf-8"))
        return record
    except (FileNotFoundError, NotADirectoryError):
        raise BadData(f"{folder} holds no training: it has no training.json") from None
    except (OSError, ValueError) as error:
        raise BadData(f"{folder}/training.json is damaged: {error}") from None


def versions() -> dict[str, str]:
    """What this was made with."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def write_card(folder: Path, record: Record) -> None:
    """Write README.md."""
    request, score = record["request"], record["score"]
    settings = (
        ", ".join(f"{name}={value}" for name, value in request["settings"].items())
        or "all as they come"
    )
    curve = "\n".join(
        f"| {r['phase']} | {r['epoch']} | {r['loss']:.4f} | {r['dev']:.4f} |"
        for r in record["curve"]
    )
    text = f"""# {request["model"]} trained by `disorder train {request["recipe"]}`

Trained on `{request["data"]}` ({record["n_train"]:,} examples{_perturbed(record)}), seed {request["seed"]}, settings: {settings}.
Answers: {", ".join(record["labels"]) or "a number"}.

Dev {score["metric"]}: {score["value"]:.3f} (95 % interval {score["low"]:.3f} to {score["high"]:.3f}, {score["n"]:,} examples,
{_source(record)}; the epoch was chosen by the same examples).

| phase | epoch | training loss | dev {score["metric"]} |
| --- | --- | --- | --- |
{curve}

Does it read, or only count words? Ask: `disorder audit {record["spec"]} DATA`

All facts of this training are in `training.json`. Weights are safetensors (a bag of words: an .npz array), never pickled.
"""
    (folder / "README.md").write_text(text, encoding="utf-8")


def _perturbed(record: Record) -> str:
    if record["request"]["recipe"] != "plain":
        return f"; perturbed copies by `{'`, `'.join(record['skips'])}`" if record["skips"] else ""
    on = [spec for spec in record["on"] if spec != "original"]
    return f"; texts as `{'` and `'.join(record['on'])}` left them" if on else ""


def _source(record: Record) -> str:
    dev = record["request"]["dev"]
    return f"`{dev}`" if dev else "held out of the training data"
