"""Trainable models: a network with its way to read texts, from scratch, a bag of words, or any
encoder of transformers.

The loop needs four things of one: encode texts, collate a batch, make a new head, save a folder.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from disorder.errors import BadModel, MissingPackage, UnknownName, option
from disorder.randomness import digest
from disorder.registry import NetworkPart, Part, parts
from disorder.store.hub import hub_access
from disorder.types import Texts
from disorder.verbs.train.training_settings import TrainingSettings

# the outputs of a head that finds answers in a passage, in place of labels
SPANS = ("span:start", "span:end")


class TrainableModel(Protocol):
    """A model that the loop can train."""

    form: str  # how the saved folder is named in a model spec: form:FOLDER
    network: Any
    labels: tuple[str, ...]
    lr: float
    epochs: int

    def encode(self, texts: Sequence[Texts]) -> list[Any]:
        """Texts as numbers, one entry per text or pair."""

    def length(self, encoded: Any) -> int:
        """How long an entry is, so that similar lengths are batched together."""

    def collate(self, encoded: Sequence[Any]) -> dict[str, Any]:
        """The arrays of one batch."""

    def logits(self, network: Any, inputs: dict[str, Any]) -> Any:
        """Logits of a batch, one column per label, by the network (which may be wrapped for several
        devices).
        """

    def new_head(self, labels: tuple[str, ...], *, is_pair: bool, seed: int) -> None:
        """Replace the output layer by a new one for these labels (none: one number; SPANS: places
        in a passage).
        """

    def save(self, folder: Path) -> None:
        """Write what a model spec needs to load it."""


@dataclass(frozen=True)
class StartingModel:
    """What training starts from, as the user named it; nothing is loaded yet."""

    spec: str
    name: str
    address: str
    network: Part | None


def starting_model(spec: str) -> StartingModel:
    """Check a `--model`: the name of a network, `bow`, or `FORM:FOLDER` to continue from a trained
    one.
    """
    name, _, address = spec.partition(":")
    networks = parts(NetworkPart)
    if name not in (*networks, "bow", "hf"):
        raise _unknown_model(spec, list(networks))
    if name == "hf" and not address:
        raise BadModel(f"{option('model')} hf: needs a name or folder: hf:NAME_OR_FOLDER")
    looks_local = name != "hf" or address.startswith(("/", "./", "../", "~"))
    if address and looks_local and not Path(address).expanduser().is_dir():
        raise BadModel(f"{option('model', spec)}: no such folder")
    _need_torch(spec)
    return StartingModel(spec, name, address, networks.get(name))


def _unknown_model(spec: str, networks: list[str]) -> BadModel | UnknownName:
    if Path(spec).is_dir():
        return BadModel(f"{spec} is a folder: write hf:{spec}, or {networks[0]}:{spec} and so on")
    folders = [f"{name}:FOLDER" for name in networks]
    return UnknownName("model to train", spec, [*networks, "bow", "hf:NAME_OR_FOLDER", *folders])


def load_trainable(
    start: StartingModel,
    settings: TrainingSettings,
    texts: Sequence[Texts],
    labels: tuple[str, ...],
    *,
    is_pair: bool,
    seed: int,
) -> TrainableModel:
    """The model that training starts from; a network from scratch knows the words of `texts`."""
    if start.name == "hf":
        from disorder.verbs.train.trainable_encoder import TrainableEncoder

        return TrainableEncoder(start.address, labels, settings.loop.max_length, seed=seed)
    if start.name == "bow":
        from disorder.verbs.train.trainable_network import TrainableBow

        return TrainableBow(start.address, labels)
    from disorder.verbs.train.trainable_network import TrainableNetwork

    if start.address:
        folder = Path(start.address)
        return TrainableNetwork.load(start.name, folder, labels, is_pair=is_pair, seed=seed)
    return TrainableNetwork.make(start.name, settings, texts, labels, is_pair=is_pair, seed=seed)


def has_labels(start: StartingModel, labels: tuple[str, ...]) -> bool:
    """Whether the model that training starts from was trained on these labels; only its
    configuration is read.
    """
    if not start.address or not labels:
        return False
    try:
        names = _labels_of(start)
    except (OSError, ValueError, KeyError):
        return False  # loading it will say what is wrong
    return label_columns([str(name) for name in names], labels) is not None


def _labels_of(start: StartingModel) -> Iterable[Any]:
    if start.name == "hf":
        from transformers import AutoConfig

        with hub_access(start.address):
            config = AutoConfig.from_pretrained(start.address, trust_remote_code=False)
        names: Iterable[Any] = config.id2label.values()
        return names
    config = json.loads((Path(start.address) / "config.json").read_text(encoding="utf-8"))
    labels: Iterable[Any] = config["labels"]
    return labels


def label_columns(own: Sequence[str], labels: Sequence[str]) -> list[int] | None:
    """Where our labels stand among a model's own, if it has exactly those."""
    names = [name.lower() for name in own]
    wanted = [label.lower() for label in labels]
    if not labels or sorted(names) != sorted(wanted):
        return None
    return [names.index(label) for label in wanted]


def torch_seed(seed: int, *key: str) -> int:
    """The seed that torch is given for our seed and key."""
    return int.from_bytes(digest(seed, *key)[:8], "little") >> 1


def _need_torch(spec: str) -> None:
    from importlib.util import find_spec

    packages = ["torch", "safetensors"]
    if spec.startswith("hf:"):
        packages.append("transformers")
    for package in packages:
        if find_spec(package) is None:
            raise MissingPackage(f"train {option('model', spec)}", package, "train")
