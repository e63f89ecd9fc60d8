"""Availability: which packages, data and models of an item are missing on this machine."""

from __future__ import annotations

import os
import socket
from functools import cache
from importlib.util import find_spec

from disorder.data import at_hand, joined_specs, named_set_of
from disorder.errors import MissingPackage, install_command
from disorder.papers.study.item import StudyItem
from disorder.papers.study.preflight import item_settings, lacking_parts
from disorder.registry import DataPart, parts
from disorder.specs import spec_name, split_spec

PACKAGES = {
    "hf": ("transformers", "torch"),
    "train": ("transformers", "torch"),
    "nlp": ("nltk", "spacy"),
    "explain": ("rapidfuzz",),
    "smt": ("thot",),
}  # pip extra → packages that show whether it is installed
HUB = ("huggingface.co", 443)
YES = ("1", "TRUE", "YES", "ON")


def check_packages(item: StudyItem) -> None:
    """Raise where extras are not installed, before anything is read."""
    lacking = [extra for extra in item.extras if not _is_installed(extra)]
    if lacking:
        missing = (name for extra in lacking for name in PACKAGES[extra] if find_spec(name) is None)
        packages = dict.fromkeys(missing)
        raise MissingPackage(item.name, ", ".join(packages), ",".join(lacking))


def missing_for(item: StudyItem, data_dir: str | None = None) -> list[str]:
    """Why an item cannot be computed now as the paper has it; empty if it can."""
    reasons = [
        f"not now: {install_command(extra)}" for extra in item.extras if not _is_installed(extra)
    ]
    if item.pipeline.kind in ("people", "drawing"):
        return reasons
    missing = [spec for spec in item.data if not is_available(spec, data_dir)]
    if missing and len(missing) == len(item.data):
        reasons.append(f"name DATA (theirs: {why_no_data(data_dir)})")
    if item.train and not is_available(item.train, data_dir):
        reasons.append(f"name --train DATA (theirs: {why_no_data(data_dir)})")
    if item.train is None and item.pipeline.needs_training_data:
        reasons.append("name --train DATA (theirs: several sets together)")
    if item.pipeline.needs_model:
        why = why_no_models(item) if item.models else ""
        if not item.models or why:
            reasons.append(f"name a MODEL{f' (theirs: {why})' if why else ''}")
    lacking = lacking_parts(item, item_settings(item))
    return [*reasons, *(f"without {spec}: {reason}" for spec, reason in lacking.items())]


def is_available(spec: str, data_dir: str | None) -> bool:
    """Whether data lies in the data folder, comes from a plugin, or can be fetched from the hub."""
    pieces = joined_specs(spec)
    if len(pieces) > 1:
        return all(is_available(piece, data_dir) for piece in pieces)
    return at_hand(spec, data_dir=data_dir) or _has_own_source(spec) or hub_is_reachable()


def _has_own_source(spec: str) -> bool:
    """Whether a source of data other than a file, a paper's set or the hub reads it."""
    name = spec_name(spec)
    return name in parts(DataPart) and name != "hf" and named_set_of(spec) is None


def why_no_data(data_dir: str | None) -> str:
    """Why the paper's data is not available, in words."""
    folder = data_dir or os.environ.get("DISORDER_DATA")
    if folder:
        return f"not in {folder}, and no hub can be reached"
    return "--data-dir or DISORDER_DATA must say where data lies"


def why_no_models(item: StudyItem) -> str:
    """Why the paper's own models are not available; empty if they are."""
    names = [address for name, address in map(split_spec, item.models) if name == "hf"]
    if not names:
        return ""
    if not _is_installed("hf"):
        return install_command("hf")
    if hub_is_reachable() or all(_is_cached(name) for name in names):
        return ""
    return "no hub can be reached"


def hub_is_reachable() -> bool:
    """Whether the model hub may be used and answers."""
    is_offline = os.environ.get("HF_HUB_OFFLINE", "").upper() in YES
    return not is_offline and _is_installed("hf") and _hub_answers()


@cache
def _hub_answers() -> bool:
    try:
        with socket.create_connection(HUB, timeout=3):
            return True
    except OSError:
        return False


def _is_cached(name: str) -> bool:
    from huggingface_hub import try_to_load_from_cache

    return isinstance(try_to_load_from_cache(name, "config.json"), str)


def _is_installed(extra: str) -> bool:
    return all(find_spec(package) is not None for package in PACKAGES[extra])
