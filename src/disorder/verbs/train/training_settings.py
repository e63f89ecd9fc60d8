"""Training settings: those that every recipe shares, and those of networks made from scratch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from math import inf
from typing import Any, Literal

from disorder.errors import BadSetting, UnknownName
from disorder.registry import Part, RecipePart


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
    """The words of a network made from scratch: how texts are split, which words are known, and
    their vectors.

    Without a splitter it is `simple`, or `icu` for languages without spaces other than Chinese.
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
    """Sort settings as typed to the recipe, the loop and the network; a name that none of them has
    is an error.
    """
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
    _check_ranges(recipe, by_owner["recipe"])
    return TrainingSettings(
        LoopSettings(**by_owner["loop"]),
        WordSettings(**by_owner["words"]),
        by_owner["network"],
        by_owner["recipe"],
    )


def loop_setting_names() -> tuple[str, ...]:
    """The settings that every model understands."""
    return tuple(field.name for field in fields(LoopSettings))


def _check_ranges(recipe: RecipePart, settings: Mapping[str, Any]) -> None:
    """Raise on a recipe's setting that is out of range, before any data is read."""
    for name, value in settings.items():
        if name in recipe.positive and not 0 < value < inf:
            raise BadSetting(recipe.name, need="a number above 0", **{name: value})
        if name in recipe.shares and not 0 <= value < 1:
            raise BadSetting(recipe.name, need="a share from 0 to below 1", **{name: value})


def _need(settings: Any, name: str, holds: Callable[[Any], bool], need: str) -> None:
    value = getattr(settings, name)
    if value is not None and not holds(value):
        raise BadSetting("train", need=need, **{name: value})
