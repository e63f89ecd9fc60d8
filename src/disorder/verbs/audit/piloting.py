"""A pilot: a few examples, predicted to see how much they vary and what they cost."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from disorder.errors import DisorderError
from disorder.metrics import ORIGINAL
from disorder.models import LoadedModel
from disorder.runs.samples import predictions_of
from disorder.runs.settings import Settings
from disorder.transformations import Transformation
from disorder.types import Costs, Dataset, Outcomes
from disorder.verbs.audit.block import Block, BlockPredictor
from disorder.verbs.audit.planning import planned
from disorder.verbs.model_loading import loaded_model
from disorder.verbs.outcomes import build_outcomes
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
    predictor = BlockPredictor.of(partial(_same, loaded), dataset, [transformation], settings)
    began = time.perf_counter()
    outcomes, n_used = _outcomes(predictor, dataset, transformation, settings)
    seconds = time.perf_counter() - began
    spent = Costs(loaded.counts)
    if not n_used:
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


def _same(loaded: LoadedModel) -> LoadedModel:
    return loaded


def _outcomes(
    predictor: BlockPredictor,
    dataset: Dataset,
    transformation: Transformation,
    settings: Settings,
) -> tuple[Outcomes, int]:
    examples = dataset.examples
    n = len(examples)
    numbers = {example.id: i for i, example in enumerate(examples)}
    found = np.full((n, transformation.count(settings.q), predictor.width), np.nan)
    original = np.full((n, predictor.width), np.nan)
    for spec, target in ((ORIGINAL, original[:, None]), (transformation.spec, found)):
        table = predictor(Block("", spec, examples)).table
        names, variants, probabilities = predictions_of(table)
        target[[numbers[name] for name in names], variants] = probabilities
    used = ~np.isnan(found[:, :, 0]).all(axis=1) & ~np.isnan(original[:, 0])
    chosen: Sequence[Any] = [e for e, kept in zip(examples, used, strict=True) if kept]
    outcomes = build_outcomes(
        dataset.task,
        chosen,
        original[used],
        found[used],
        transformation,
        n_skipped=int((~used).sum()),
        seed=settings.seed,
        fidelity=settings.fidelity,
    )
    return outcomes, int(used.sum())
