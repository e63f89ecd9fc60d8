"""A pilot: a few examples, predicted to see how much they vary and what they cost."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from disorder.errors import DisorderError
from disorder.runs.settings import Settings
from disorder.transformations import Transformation
from disorder.types import Costs, Dataset, Outcomes
from disorder.verbs.audit.block import Block, BlockPredictor
from disorder.verbs.audit.division import stages_of
from disorder.verbs.audit.outcome_builder import OutcomeBuilder
from disorder.verbs.audit.planning import planned
from disorder.verbs.audit.predicted import ExampleNumbers, Predicted
from disorder.verbs.model_loading import loaded_model
from disorder.verbs.prompting import bound_prompt
from disorder.verbs.selected_data import selected_data


@dataclass(frozen=True)
class Pilot:
    """What a few examples gave: their outcomes, and what they cost."""

    outcomes: Outcomes
    n_examples: int  # with those that could not be used
    n_available: int
    n_questions: int  # per text
    spent: Costs
    seconds: float


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
    )


def _outcomes(
    predictor: BlockPredictor,
    dataset: Dataset,
    transformation: Transformation,
    settings: Settings,
) -> Outcomes | None:
    """What was predicted; None where no example can be used."""
    numbers = ExampleNumbers.of(dataset)
    found = []
    for stage in stages_of([transformation], settings.q):
        predicted = Predicted.none_yet(stage, numbers)
        block = Block("", stage.spec, dataset.examples)
        predicted.fill(block, predictor(block))
        found.append(predicted)
    originals, perturbed = found
    builder = OutcomeBuilder(predictor, settings)
    places = np.flatnonzero(perturbed.used)
    outcomes = builder.at(places, dataset.examples, originals.probabilities[:, 0], perturbed)
    if outcomes is None:
        return None
    return replace(outcomes, n_skipped=len(dataset.examples) - len(outcomes))
