"""What can learn? A network with its way to read texts: from scratch, a bag of words, or any
encoder of transformers.

The loop asks a learner for four things: encode texts, feed a batch, make a new head, save itself as
a folder.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from disorder.errors import BadModel, MissingPackage, UnknownName
from disorder.randomness import digest
from disorder.registry import NetworkPart, Part, parts
from disorder.types import Texts
from disorder.verbs.train.training_settings import Chosen

SPANS = (
    "span:start",
    "span:end",
)  # the outputs of a head that finds answers in a passage, in place of labels


class Learner(Protocol):
    """A network that the loop can train."""

    form: str  # how the saved folder is named in a model spec: form:FOLDER
    network: Any
    labels: tuple[str, ...]
    lr: float
    epochs: int

    def encode(self, texts: Sequence[Texts]) -> list[Any]:
        """Texts as numbers, one entry a text or pair."""

    def length(self, encoded: Any) -> int:
        """How long an entry is, so that like lengths go together."""

    def feed(self, encoded: Sequence[Any]) -> dict[str, Any]:
        """Arrays of one batch."""

    def logits(self, network: Any, given: dict[str, Any]) -> Any:
        """Logits of a batch, one column a label, by the network (which may be wrapped for several
        devices).
        """

    def new_head(self, labels: tuple[str, ...], *, is_pair: bool, seed: int) -> None:
        """Forget the output layer; what comes now has these labels (none: one number; SPANS: places
        in a passage).
        """

    def save(self, folder: Path) -> None:
        """Write what a model spec needs to load it."""


@dataclass(frozen=True)
class Start:
    """What training starts from, as the user named it; nothing is loaded yet."""

    spec: str
    name: str
    address: str
    network: Part | None


def start(spec: str) -> Start:
    """Check a `--model`: the name of a network, `bow`, or `FORM:FOLDER` to go on from a trained
    one.
    """
    name, _, address = spec.partition(":")
    networks = parts(NetworkPart)
    if name not in (*networks, "bow", "hf"):
        known = [*networks, "bow", "hf:NAME_OR_FOLDER", *(f"{each}:FOLDER" for each in networks)]
        if Path(spec).is_dir():
            raise BadModel(
                f"{spec} is a folder: write hf:{spec}, or {next(iter(networks))}:{spec} and so on"
            )
        raise UnknownName("model to train", spec, known)
    if name == "hf" and not address:
        raise BadModel("--model hf: needs a name or folder: hf:NAME_OR_FOLDER")
    looks_local = name != "hf" or address.startswith(("/", "./", "../", "~"))
    if address and looks_local and not Path(address).expanduser().is_dir():
        raise BadModel(f"--model {spec}: no such folder")
    _need_torch(spec)
    return Start(spec, name, address, networks.get(name))


def make(
    chosen: Start,
    settings: Chosen,
    texts: Sequence[Texts],
    labels: tuple[str, ...],
    *,
    is_pair: bool,
    seed: int,
) -> Learner:
    """The learner that training starts from; words are those of the texts."""
    if chosen.name == "hf":
        from disorder.verbs.train.hf_learner import Encoder

        return Encoder(chosen.address, labels, settings.loop.max_length, seed=seed)
    if chosen.name == "bow":
        from disorder.verbs.train.bow_learner import Bag

        return Bag(chosen.address, labels)
    from disorder.verbs.train.scratch_learner import Fresh

    if chosen.address:
        return Fresh.load(chosen.name, Path(chosen.address), labels, is_pair=is_pair, seed=seed)
    return Fresh.make(chosen.name, settings, texts, labels, is_pair=is_pair, seed=seed)


def answers_already(chosen: Start, labels: tuple[str, ...]) -> bool:
    """Whether the model that training starts from was trained on these labels; nothing but its
    configuration is read.
    """
    if not chosen.address or not labels:
        return False
    if chosen.name == "hf":
        from transformers import AutoConfig

        try:
            names = AutoConfig.from_pretrained(chosen.address).id2label.values()
        except (OSError, ValueError, KeyError):
            return False  # loading it will say what is wrong
    else:
        try:
            names = json.loads((Path(chosen.address) / "config.json").read_text(encoding="utf-8"))[
                "labels"
            ]
        except (OSError, ValueError, KeyError):
            return False
    return same_labels([str(name) for name in names], labels) is not None


def same_labels(own: Sequence[str], labels: Sequence[str]) -> list[int] | None:
    """Where our labels stand among a model's own, if it has just those."""
    names, wanted = [name.lower() for name in own], [label.lower() for label in labels]
    return (
        [names.index(label) for label in wanted]
        if labels and sorted(names) == sorted(wanted)
        else None
    )


def number(seed: int, *key: str) -> int:
    """A seed for torch that stands for our seed and key."""
    return int.from_bytes(digest(seed, *key)[:8], "little") >> 1


def _need_torch(spec: str) -> None:
    from importlib.util import find_spec

    for package in ("torch", "safetensors", *(["transformers"] if spec.startswith("hf:") else [])):
        if find_spec(package) is None:
            raise MissingPackage(f"train --model {spec}", package, "train")
