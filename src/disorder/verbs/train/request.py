"""Training requests: everything a training is told, checked before any data is read or model
loaded; then the examples to train on, and the dev examples that choose the best epoch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from disorder.errors import BadData, BadSetting, option
from disorder.randomness import digest
from disorder.registry import RecipePart, SplitterPart, part
from disorder.requests.fields import TrainFields
from disorder.requests.settings import Settings
from disorder.transformations import parse
from disorder.types import ORIGINAL, Dataset, Example
from disorder.verbs.selected_data import check_has_labels, selected_data
from disorder.verbs.train.network_rows import locate_answers
from disorder.verbs.train.recipe_plan import Job
from disorder.verbs.train.trainable import (
    StartingModel,
    TrainingSettings,
    has_labels,
    sort_settings,
    starting_model,
)
from disorder.verbs.train.trainable_network import check_vectors

FROM_PYTHON = "rows given from Python"


@dataclass(frozen=True, kw_only=True)
class TrainingRequest(TrainFields):
    """The request for a training: the same words in Python, as options and in result.json."""

    recipe: str = "plain"
    data: Any = "builtin:nli:train"

    @property
    def reading(self) -> Settings:
        """How to read data: the settings that a data spec does not say."""
        return Settings.among(self, seed=0, limit=None)

    def recorded(self) -> dict[str, Any]:
        """The request as result.json holds it."""
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
    named = request.on or (ORIGINAL,)
    on = [
        spec if spec == ORIGINAL else parse(spec, fidelity=request.fidelity).tried().spec
        for spec in named
    ]
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


def _recorded_data(given: Any) -> str | None:
    return given if isinstance(given, str | None) else FROM_PYTHON


# without --dev: one example in ten, 2,000 at most
HELD_OUT = 10
MOST_HELD_OUT = 2000


def build_job(checked: CheckedRequest, data: Dataset | None = None) -> Job:
    """What the recipe of a request is given; `data` is its data, where it was read already."""
    request = checked.request
    train, dev = _train_and_dev(checked, data)
    finds_spans = _finds_spans(checked, train)
    if finds_spans:
        if any(example.answers is None for example in dev.examples):
            raise BadData(f"{option('dev', request.dev)} has no answers, so it cannot score them")
        train = locate_answers(train, drops=True)
        dev = locate_answers(dev, drops=False)
    is_fine_tuned = has_labels(checked.start, train.task.labels)
    return Job(
        train,
        dev,
        seed=request.seed,
        on=checked.on,
        fidelity=request.fidelity,
        is_fine_tuned=is_fine_tuned,
        asks=request.asks or (request.model if is_fine_tuned else None),
        data_dir=request.data_dir,
        finds_spans=finds_spans,
        keeps_unperturbed=checked.settings.loop.unperturbed == "keep",
    )


def _train_and_dev(checked: CheckedRequest, data: Dataset | None) -> tuple[Dataset, Dataset]:
    request = checked.request
    reading = replace(request.reading, seed=request.seed)
    given = request.data if data is None else data
    train = selected_data(given, replace(reading, limit=request.limit))
    check_has_labels(train, "train")
    if request.dev is None:
        rest, dev = held_out(train, request.seed)
        return (train if checked.trains_on_dev else rest), dev
    dev = selected_data(request.dev, reading)
    is_other = dev.task.is_regression != train.task.is_regression
    if is_other or set(dev.task.labels) - set(train.task.labels):
        theirs = ", ".join(dev.task.labels) or "numbers"
        raise BadData(
            f"{option('dev', request.dev)} has other labels ({theirs}) than the training data"
        )
    return train, replace(dev, task=train.task)


def held_out(data: Dataset, seed: int) -> tuple[Dataset, Dataset]:
    """Training and dev data where none was named: one example in ten, drawn by seed."""
    if len(data.examples) < 2:
        raise BadData(f"{data.name}: {len(data.examples)} example is too little to train on")
    drawn = sorted(data.examples, key=lambda example: digest(seed, "dev", example.id))
    n = min(MOST_HELD_OUT, max(1, len(drawn) // HELD_OUT))
    dev_ids = {example.id for example in drawn[:n]}
    train: list[Example] = []
    dev: list[Example] = []
    for example in data.examples:
        (dev if example.id in dev_ids else train).append(example)
    return replace(data, examples=train), replace(data, examples=dev)


def _finds_spans(checked: CheckedRequest, data: Dataset) -> bool:
    """Whether answers are trained: where all have their places, or where the user says so."""
    head = checked.settings.loop.head
    if head == "labels" or not checked.can_find_spans:
        return False
    answers = [example.answers for example in data.examples]
    has_answers = None not in answers and any(answers)
    if head == "spans" and not has_answers:
        raise BadData(
            f"{data.name}: head=spans needs answers to learn from: columns answer and "
            "answer_start, or answers"
        )
    has_places = all(start >= 0 for each in answers for _, start in each or ())
    return head == "spans" or (has_answers and has_places)
