"""A pilot: a few examples, predicted to see how much they vary and what they cost."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from math import ceil
from typing import Any

import numpy as np

from disorder.errors import DisorderError
from disorder.models.loaded_model import LoadedModel
from disorder.requests.settings import Settings
from disorder.transformations import Transformation
from disorder.types import Costs, Dataset, Outcomes, Variants
from disorder.verbs.audit.block import BlockPredictor
from disorder.verbs.audit.division import stages_of
from disorder.verbs.audit.planning import planned
from disorder.verbs.model_loading import loaded_model
from disorder.verbs.outcomes import OutcomeFacts
from disorder.verbs.prompting import bound_prompt
from disorder.verbs.selected_data import selected_data
from disorder.verbs.transformation_samples import ExampleNumbers, TransformationSamples

MOST_LOOKED_UP = 1000  # examples whose texts are looked up in the cache


@dataclass(frozen=True)
class Pilot:
    """What a few examples gave: their outcomes, and what they cost."""

    outcomes: Outcomes
    n_examples: int  # with those that could not be used
    n_available: int
    n_questions: int  # per text
    spent: Costs
    seconds: float
    n_cached: Callable[[int, int], int]  # of the texts of so many examples, with q variants each


def pilot(model: Any, data: Any, settings: Settings) -> Pilot:
    """Predict the first `limit` examples and `q` variants of each, under one transformation."""
    everything = selected_data(data, replace(settings, limit=None))
    dataset = selected_data(data, settings)
    [transformation], _ = planned(settings, dataset.task.language)
    prompt = bound_prompt(model, dataset, settings)
    loaded, _ = loaded_model(model, dataset, [transformation], settings, prompt)
    predictor = BlockPredictor.of(lambda: loaded, dataset, [transformation], settings)
    began = time.perf_counter()
    outcomes = _outcomes(predictor, dataset, transformation, settings)
    seconds = time.perf_counter() - began
    spent = Costs(loaded.counts)
    if outcomes is None:
        raise DisorderError(
            f"plan: none of {len(dataset.examples)} examples can be perturbed by "
            f"{transformation.spec} and answered"
        )
    return Pilot(
        outcomes,
        len(dataset.examples),
        len(everything.examples),
        loaded.n_questions,
        spent,
        seconds,
        partial(_n_cached, loaded, data, transformation, settings),
    )


def _n_cached(
    loaded: LoadedModel,
    data: Any,
    transformation: Transformation,
    settings: Settings,
    n_examples: int,
    q: int,
) -> int:
    """How many texts of an audit have a prediction in the cache already; of a large one, some are
    looked up. 0 where the variants depend on a model or other data.
    """
    if transformation.needs_context:
        return 0
    dataset = selected_data(data, replace(settings, limit=n_examples))
    looked_up = dataset.examples[:: ceil(len(dataset.examples) / MOST_LOOKED_UP)]
    made = transformation.apply_all(
        looked_up, task=dataset.task, q=q, seed=settings.seed, short=settings.short
    )
    variants = [each for each in made if isinstance(each, Variants)]
    found = loaded.n_cached([example.texts for example in looked_up], variants)
    return round(found * len(dataset.examples) / len(looked_up))


def _outcomes(
    predictor: BlockPredictor,
    dataset: Dataset,
    transformation: Transformation,
    settings: Settings,
) -> Outcomes | None:
    """What was predicted; None where no example can be used."""
    numbers = ExampleNumbers.of(dataset.task, dataset.examples)
    found = []
    for stage in stages_of([transformation], settings.q):
        samples = TransformationSamples.empty(stage.transformation, stage.count, numbers)
        result = predictor(stage.block(dataset.examples, 0, 0))
        samples.add(result.table, result.skips, len(numbers))
        found.append(samples)
    originals, perturbed = found
    original = originals.values[:, 0]
    chosen = np.flatnonzero(perturbed.used & ~np.isnan(original[:, 0]))
    if not len(chosen):
        return None
    facts = OutcomeFacts(dataset.task, settings.seed, settings.fidelity)
    n_skipped = len(numbers) - len(chosen)
    return perturbed.outcomes(original, chosen, facts, n_skipped=n_skipped)
