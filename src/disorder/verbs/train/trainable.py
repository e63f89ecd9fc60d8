"""Trainable models: a network with its way to read texts, from scratch, a bag of words, or any
encoder of transformers; and the settings of a training: those that every recipe shares, and those
of networks made from scratch.

The loop needs four things of one: encode texts, collate a batch, make a new head, save a folder.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from math import inf
from pathlib import Path
from typing import Any, Literal, Protocol

from disorder.errors import BadModel, BadSetting, MissingPackage, UnknownName, option
from disorder.randomness import digest
from disorder.registry import NetworkPart, Part, RecipePart, parts
from disorder.store.hub import hub_access
from disorder.types import Texts


@dataclass(frozen=True, kw_only=True)
class LoopSettings:
    """The training loop. Without lr or epochs, the model's own are used.

    `epoch` is the one whose weights stay: the best on the dev data, or the last of a fixed number,
    as in the papers. Then nothing need be `held_out` of the training data where no dev data is
    named, unless the recipe calibrates. `unperturbed` says what becomes of training examples that
    a transformation does not apply to: they are left out, or kept as they are, so that trainings
    to be compared have the same examples.
    """

    lr: float | None = None
    epochs: int | None = None
    batch_size: int = 32
    max_length: int = 128
    warmup: float = 0.1
    weight_decay: float = 0.01
    clip: float = 1.0
    accumulate: int = 1
    patience: int = 3
    epoch: Literal["best", "last"] = "best"
    held_out: bool = True
    precision: Literal["auto", "fp32", "bf16"] = "auto"
    head: Literal["auto", "labels", "spans"] = "auto"
    unperturbed: Literal["drop", "keep"] = "drop"
    save_every: int = 500

    def __post_init__(self) -> None:
        for name in ("epochs", "batch_size", "max_length", "accumulate", "save_every"):
            _need(self, name, lambda value: value >= 1, "1 or more")
        for name in ("lr", "clip"):
            _need(self, name, lambda value: 0 < value < inf, "a number above 0")
        _need(self, "warmup", lambda value: 0 <= value < 1, "a share of the steps, below 1")
        _need(self, "weight_decay", lambda value: 0 <= value < inf, "0 or more")
        if self.epoch == "best" and not self.held_out:
            raise BadSetting(
                "train", held_out=False, need="epoch=last: held-out rows choose the best"
            )
        never = "a number of epochs; 0 never stops early"
        _need(self, "patience", lambda value: value >= 0, never)


@dataclass(frozen=True, kw_only=True)
class WordSettings:
    """The words of a network from scratch: how texts are split (`simple`, or `icu` for scripts
    without spaces but Chinese), which words are known, and their vectors.
    """

    words: str | None = None
    min_count: int = 2
    width: int = 100
    vectors: str | None = None
    more_words: int = 50_000
    tune_vectors: bool = False

    def __post_init__(self) -> None:
        for name in ("min_count", "width"):
            _need(self, name, lambda value: value >= 1, "1 or more")
        _need(self, "more_words", lambda value: value >= 0, "0 or more")


# names that belong into `settings`, for a user who writes them as keywords
SETTING_NAMES = tuple(field.name for part in (LoopSettings, WordSettings) for field in fields(part))


@dataclass(frozen=True)
class TrainingSettings:
    """All settings of one training, sorted by what they belong to."""

    loop: LoopSettings
    words: WordSettings
    network: Mapping[str, Any]
    recipe: Mapping[str, Any]


def sort_settings(
    given: Mapping[str, Any], recipe: RecipePart, network: Part | None
) -> TrainingSettings:
    """Sort settings to the recipe, the loop and the network; raise on those of none."""
    owners = {"recipe": recipe, "loop": Part(name="train").with_function(LoopSettings)}
    if network is not None:
        owners["words"] = Part(name=network.name).with_function(WordSettings)
        owners["network"] = network
    by_owner: dict[str, dict[str, Any]] = {
        owner: {} for owner in ("recipe", "loop", "words", "network")
    }
    for name, value in given.items():
        owner = next((key for key, part in owners.items() if name in part.settings), None)
        if owner is None:
            known = [key for part in owners.values() for key in part.settings]
            raise UnknownName(f"setting of {recipe.name}", name, known)
        by_owner[owner] |= owners[owner].bind({name: value})
    for name, value in by_owner["recipe"].items():
        if name in recipe.positive and not 0 < value < inf:
            raise BadSetting(recipe.name, need="a number above 0", **{name: value})
        if name in recipe.shares and not 0 <= value < 1:
            raise BadSetting(recipe.name, need="a share from 0 to below 1", **{name: value})
    return TrainingSettings(
        LoopSettings(**by_owner["loop"]),
        WordSettings(**by_owner["words"]),
        by_owner["network"],
        by_owner["recipe"],
    )


def loop_setting_names() -> tuple[str, ...]:
    """The settings that every model understands."""
    return tuple(field.name for field in fields(LoopSettings))


def _need(settings: Any, name: str, holds: Callable[[Any], bool], need: str) -> None:
    value = getattr(settings, name)
    if value is not None and not holds(value):
        raise BadSetting("train", need=need, **{name: value})


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
        """Logits of a batch, one column per label, by the network (or what wraps it)."""

    def new_head(self, labels: tuple[str, ...], *, is_pair: bool, seed: int) -> None:
        """Replace the output layer (no labels: one number; SPANS: places in a passage)."""

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
    """Check a `--model`: a network, `bow`, or `FORM:FOLDER` to continue from a trained one."""
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
    """Whether the starting model has these labels; only its configuration is read."""
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
