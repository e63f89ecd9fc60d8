"""Evaluation on dev data: the score that chooses the best epoch, and the one a finished training
reports.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from disorder.errors import DisorderError
from disorder.metrics import scores
from disorder.metrics.statistics.ranks import rank_correlation
from disorder.models.outputs import softmax
from disorder.types import Floats, Score, Task
from disorder.verbs.outcomes import original_outcomes
from disorder.verbs.train.inputs import Inputs
from disorder.verbs.train.losses import cross_entropy, squared_error
from disorder.verbs.train.network_rows import predict_logits, predict_rows
from disorder.verbs.train.recipe_plan import Phase
from disorder.verbs.train.span_learning import score_spans, span_rows
from disorder.verbs.train.trainable import SPANS, TrainableModel

Evaluate = Callable[[], tuple[float, float]]  # → dev score, dev loss


def dev_metric(labels: tuple[str, ...]) -> str:
    """The metric of a phase's dev score."""
    if labels == SPANS:
        return "f1"
    return "accuracy" if labels else "spearman"


def dev_evaluation(model: TrainableModel, dev: Inputs) -> Evaluate:
    """A function that evaluates the network as it stands; the dev texts are encoded once."""
    if model.labels == SPANS:
        rows, read = span_rows(model, dev)

        def evaluate_spans() -> tuple[float, float]:
            found, loss = score_spans(model, dev, rows, read)
            return found.best_f1(), loss

        return evaluate_spans
    encoded = model.encode(dev.texts)

    def evaluate() -> tuple[float, float]:
        logits = predict_rows(model, encoded)
        return dev_score(logits, dev) if model.labels else dev_correlation(logits, dev)

    return evaluate


def dev_score(logits: Floats, dev: Inputs) -> tuple[float, float]:
    """Accuracy, and the loss for ties."""
    accuracy = float((logits.argmax(axis=1) == dev.targets).mean())
    return accuracy, _loss(cross_entropy, logits, dev)


def dev_correlation(numbers: Floats, dev: Inputs) -> tuple[float, float]:
    """Spearman's correlation (−1 where all predictions are the same), and the loss for ties."""
    value = float(rank_correlation(numbers.T, dev.targets[None, :].astype(float))[0])
    return (-1.0 if np.isnan(value) else value), _loss(squared_error, numbers, dev)


def _loss(loss: Callable[..., Any], logits: Floats, dev: Inputs) -> float:
    import torch

    return float(loss(torch.from_numpy(logits), torch.from_numpy(dev.targets), None))


def best_constant(phase: Phase) -> float | None:
    """The dev score of the best answer that is the same for every text; None for spans."""
    if phase.labels == SPANS:
        return None
    if not phase.labels:
        return 0.0
    return round(float(np.bincount(phase.dev.targets).max() / len(phase.dev)), 6)


def final_score(
    model: TrainableModel, phase: Phase, task: Task, after: dict[str, Any]
) -> tuple[str, Score]:
    """The metric and the dev score of the trained network, with its interval."""
    metric = dev_metric(phase.labels)
    if phase.labels == SPANS:
        return metric, Score(**after["spans"]["scores"]["f1, all"])
    predictions = predict_logits(model, phase.dev.texts)
    if phase.labels:
        predictions = softmax(predictions)
    predicted_task = replace(task, labels=phase.labels)  # a recipe may add a label
    outcomes = original_outcomes(predicted_task, phase.dev.targets, predictions)
    measured = dict(scores(outcomes, only=[metric]))[metric]
    if isinstance(measured, str):
        raise DisorderError(f"the dev score cannot be measured: {measured}")
    return metric, measured
