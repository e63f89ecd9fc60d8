"""Preflight: what an item needs of this machine, and which packages, data and models are missing.

All is checked before the first step. A transformation that lacks a tagger or package is left out
with the reason, and the rest is computed; an item of which nothing is left says what to install.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from importlib.util import find_spec
from typing import Any

from disorder.data import at_hand, joined_specs, named_set_of
from disorder.errors import (
    BadSetting,
    DisorderError,
    Lacking,
    MissingData,
    MissingPackage,
    install_command,
)
from disorder.papers.study.item import StudyItem
from disorder.papers.study.part_settings import PartSettings, with_settings
from disorder.papers.study.pipeline import Pipeline
from disorder.papers.study.workbench import LEARNING, Workbench
from disorder.papers.translation.translator import thot
from disorder.registry import DataPart, ExplanationPart, parts
from disorder.specs import parse_part, spec_name, split_spec
from disorder.transformations import parse
from disorder.transformations.tags import tagged
from disorder.transformations.words import split
from disorder.transformations.words.nltk_sentences import has_sentences

LACKING = (MissingPackage, MissingData)
SENTENCES = "nltk_sentences"  # NLTK's splitter of sentences needs data that not everyone has


class Lacks:
    """What an item lacks, noted one after the other and told all at once."""

    def __init__(self) -> None:
        self.errors: list[DisorderError] = []

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Keep what is lacking inside; a mistake of the user's is raised at once."""
        try:
            yield
        except (Lacking, *LACKING) as error:
            self.errors.append(error)

    def check(self) -> None:
        """Raise what was noted, as one line."""
        if len(self.errors) == 1:
            raise self.errors[0]
        if self.errors:
            raise Lacking("; ".join(map(str, self.errors)))


def parts_used(item: StudyItem) -> list[str]:
    """The transformations and explanations of an item, as it names them."""
    return [*item.pipeline.perturbs, *item.pipeline.explains]


def item_settings(item: StudyItem) -> dict[str, dict[str, str]]:
    """The item's own settings of its parts, as far as this machine has what they need."""
    given = {name: dict(own) for name, own in item.part_settings.items()}
    if not has_sentences():
        for own in given.values():
            if own.get("words") == SENTENCES:
                del own["words"]
                own.pop("tagger", None)
    return {name: own for name, own in given.items() if own}


def notes_on_settings(item: StudyItem, given: PartSettings) -> list[str]:
    """Which of the item's own settings cannot be used here, unless the user gave them, as a line
    each: then texts are not cut as the paper did.
    """
    left = item_settings(item)
    kept = {name: {*left.get(name, {}), *given.get(name, {})} for name in item.part_settings}
    return [
        f"{name} without {', '.join(f'{key}={value}' for key, value in lost.items())}, as the "
        "paper has it: NLTK's sentence splitter or its data is not installed"
        for name, own in item.part_settings.items()
        if (lost := {key: value for key, value in own.items() if key not in kept[name]})
    ]


def lacking_parts(
    item: StudyItem, settings: dict[str, dict[str, str]], language: str | None = None
) -> dict[str, str]:
    """The parts of an item that cannot be used here, and why; without a language, on its data."""
    language = language or _known_language(item.data) or "en"
    named = {spec: with_settings(spec, settings) for spec in parts_used(item)}
    found = {spec: _why_not(full, language) for spec, full in named.items()}
    return {spec: reason for spec, reason in found.items() if reason}


@lru_cache(maxsize=256)
def _why_not(spec: str, language: str) -> str:
    """Why a transformation or explanation cannot be used; empty where it can."""
    try:
        if split_spec(spec)[0] in parts(ExplanationPart):
            _try_tagger(spec, language)
        elif split_spec(spec)[0] in LEARNING:
            thot("translation")
        else:
            parse(spec).tried(language)
    except LACKING as reason:
        return str(reason)
    except BadSetting as reason:  # a splitter of another language
        if "words=" not in spec:
            raise
        return str(reason)
    return ""


def _try_tagger(spec: str, language: str) -> None:
    """Raise where an explanation needs a tagger that is not there."""
    name, given = parse_part(spec, kind="explanation")
    if "tagger" in parts(ExplanationPart)[name].needs:
        usual = "spacy" if language == "en" else "jieba"
        tagged([split("one two three")], tagger=given.get("tagger") or usual)


def usable_pipeline(item: StudyItem, bench: Workbench) -> tuple[Pipeline, list[str]]:
    """The pipeline without what this machine lacks, and notes; raises where nothing is left."""
    settings: Any = bench.part_settings
    perturbs = item.pipeline.perturbs
    needs_language = any("tags" in parse(spec).needs or "words=" in spec for spec in perturbs)
    language = "en"
    if needs_language and bench.data:  # as the name of the data tells it, else as its texts do
        known = _known_language(bench.data)
        language = known or bench.read(bench.data[0], limit=None).task.language
    lacking = lacking_parts(item, settings, language)
    tuned = item.pipeline.tuned(settings)
    if not lacking:
        return tuned, []
    pipeline = tuned.without(lacking)
    left = [spec for spec in (*pipeline.perturbs, *pipeline.explains) if spec not in lacking]
    if not left or set(pipeline.perturbs) & set(lacking) or set(pipeline.explains) & set(lacking):
        spec, reason = next(iter(lacking.items()))
        raise DisorderError(f"{item.name} needs {spec}: {reason}")
    return pipeline, [f"left out: {spec} ({reason})" for spec, reason in lacking.items()]


def _known_language(data: Sequence[Any]) -> str | None:
    """The language of the first set, where its name says it."""
    entry = named_set_of(data[0]) if data else None
    task = None if entry is None else entry.task_for(split_spec(data[0])[1])
    return None if task is None else task.language


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
    name = spec_name(spec)
    is_of_plugin = name in parts(DataPart) and name != "hf" and named_set_of(spec) is None
    return at_hand(spec, data_dir=data_dir) or is_of_plugin or hub_is_reachable()


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
