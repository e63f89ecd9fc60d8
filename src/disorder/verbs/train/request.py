"""Training requests: everything a training is told, checked before any data is read or model
loaded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from disorder.errors import BadSetting, option
from disorder.registry import RecipePart, SplitterPart, part
from disorder.requests.fields import TrainFields
from disorder.requests.settings import Settings
from disorder.transformations import parse
from disorder.types import ORIGINAL
from disorder.verbs.train.trainable import StartingModel, starting_model
from disorder.verbs.train.training_settings import TrainingSettings, sort_settings
from disorder.verbs.train.word_vectors import check_vectors

FROM_PYTHON = "rows given from Python"


@dataclass(frozen=True, kw_only=True)
class TrainingRequest(TrainFields):
    """The request for a training: the same words in Python, as options and in training.json."""

    recipe: str = "plain"
    data: Any = "builtin:nli:train"

    @property
    def reading(self) -> Settings:
        """How to read data: the settings that a data spec does not say."""
        return Settings.among(self, seed=0, limit=None)

    @property
    def is_from_python(self) -> bool:
        """Whether data was given as rows, which training.json does not keep."""
        return FROM_PYTHON in (self.data, self.dev)

    def recorded(self) -> dict[str, Any]:
        """The request as training.json holds it."""
        return {
            **vars(self),
            "data": _recorded_data(self.data),
            "dev": _recorded_data(self.dev),
            "on": list(self.on),
            "settings": dict(self.settings),
        }


@dataclass(frozen=True)
class CheckedRequest:
    """A request that can be carried out as far as can be said before anything is read."""

    request: TrainingRequest
    recipe: RecipePart
    start: StartingModel
    settings: TrainingSettings
    on: Sequence[str]

    @property
    def trains_on_dev(self) -> bool:
        """Whether no row is kept apart: no epoch is chosen and nothing is calibrated."""
        is_all = not self.settings.loop.held_out and self.request.dev is None
        return is_all and not (self.recipe.of_trained or self.recipe.perturbs)

    @property
    def can_find_spans(self) -> bool:
        """Whether recipe and model can be trained to find answers in a passage."""
        return self.recipe.spans and self.start.name == "hf"


def training_request(
    recipe: str, data: Any, options: Mapping[str, object], **more: Any
) -> TrainingRequest:
    """The request that the options of a verb make; paths are spelled out."""
    given = {name: spelled(value) for name, value in options.items()}
    return TrainingRequest.of(given, recipe=recipe, data=spelled(data), **more)


def check_request(request: TrainingRequest) -> CheckedRequest:
    """Raise on anything that cannot work, before any data is read or model loaded."""
    recipe = part(RecipePart, request.recipe)
    start = starting_model(request.model)
    settings = sort_settings(request.settings, recipe, None if start.address else start.network)
    on = [_canonical(spec) for spec in request.on or (ORIGINAL,)]
    checked = CheckedRequest(request, recipe, start, settings, on)
    if settings.loop.head == "spans" and not checked.can_find_spans:
        need = f"{option('model', 'hf:ENCODER')} and a recipe for the task itself, as plain is"
        raise BadSetting("train", head="spans", need=need)
    check_vectors(settings.words.vectors)
    if settings.words.words is not None:
        part(SplitterPart, settings.words.words)
    return checked


def spelled(given: Any) -> Any:
    """A path as its text; anything else as it is."""
    return str(given) if isinstance(given, Path) else given


def _canonical(spec: str) -> str:
    return spec if spec == ORIGINAL else parse(spec).tried().spec


def _recorded_data(given: Any) -> str | None:
    return given if isinstance(given, str | None) else FROM_PYTHON
