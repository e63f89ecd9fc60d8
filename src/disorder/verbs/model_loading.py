"""The model of a run: loaded with the run's settings, in the number format that was chosen."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from disorder.errors import DoesNotApply
from disorder.models import LoadedModel, choose_precision, load
from disorder.randomness import digest
from disorder.runs.cache_folder import default_folder
from disorder.runs.settings import Settings
from disorder.transformations import Transformation, parse
from disorder.types import Dataset, Task, Texts

N_SAMPLED = 200  # examples that a precision is tried on


def load_model(model: Any, task: Task, settings: Settings, precision: str) -> LoadedModel:
    """The model in one precision, with its cache."""
    return load(
        model,
        task=task,
        labels=settings.labels,
        batch_size=settings.batch_size,
        precision=precision,
        cache=_cache_folder(settings),
    )


def loaded_model(
    model: Any, dataset: Dataset, plan: Sequence[Transformation], settings: Settings
) -> tuple[LoadedModel, list[str]]:
    """The model in the precision asked for, and what the user should know about it."""
    precision = settings.precision
    notes: list[str] = []
    if precision == "auto":
        texts = _sampled(dataset, plan, settings)
        precision, note = choose_precision(
            partial(load_model, model, dataset.task, settings), texts, settings.agree
        )
        notes.append(note)
    loaded = load_model(model, dataset.task, settings, precision)
    if any("importance" in transformation.needs for transformation in plan):
        notes.append(loaded.how_importance)
    return loaded, [*notes, *loaded.notes]


def _cache_folder(settings: Settings) -> Path | None:
    if settings.cache == "off":
        return None
    return Path(settings.cache) if settings.cache else default_folder()


def _sampled(dataset: Dataset, plan: Sequence[Transformation], settings: Settings) -> list[Texts]:
    """Original and perturbed texts of a few examples, such as the run will predict; only those that
    can be perturbed without a model.
    """
    texts: list[Texts] = []
    transformation = next((each for each in plan if not each.asks_others), parse("derange"))
    for example in sorted(
        dataset.examples, key=lambda example: digest(settings.seed, "precision", example.id)
    )[:N_SAMPLED]:
        texts.append(example.texts)
        try:
            texts += transformation.apply(
                example, task=dataset.task, q=2, seed=settings.seed, short="use"
            ).texts()
        except DoesNotApply:
            continue
    return texts
