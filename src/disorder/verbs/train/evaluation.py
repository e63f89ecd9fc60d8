"""What is measured on dev data: the score that chooses the best epoch, the one a finished training
reports; and after training a temperature, and a threshold below which the model abstains, fitted on
data that it was not trained on.

Guo et al. (2017) for the temperature; Word Salad (Gupta et al., 2021) for the threshold on the top
probability. The paper searches [1/N, 1] for the best one and does not say what best is. Its tables
lose a point or two of accuracy, so it cannot abstain on most original texts: here the model may
abstain on a share of them, as is usual for finding unusual inputs (Liang et al., 2018, whom the
paper cites, count what is caught while 95 % of usual inputs pass). With rule=grid the threshold is
searched as in the paper, and best is the mean of the two numbers that its Table 12 gives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from disorder.errors import DisorderError, NothingToMeasure
from disorder.metrics import scores
from disorder.metrics.ece import calibration_error
from disorder.metrics.statistics.intervals import mean, share
from disorder.metrics.statistics.ranks import rank_correlation
from disorder.models.outputs import Calibration, softmax
from disorder.types import ORIGINAL, Bools, Floats, Ints, Score, Task
from disorder.verbs.outcomes import original_outcomes
from disorder.verbs.train.inputs import Inputs, cross_entropy, squared_error
from disorder.verbs.train.network_rows import predict_logits, predict_rows, score_spans, span_rows
from disorder.verbs.train.recipe_plan import AfterPhase, Job, Phase
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
        """Accuracy, or Spearman's correlation (−1 where there is none); and the loss for ties."""
        import torch

        logits = predict_rows(model, encoded)
        if model.labels:
            score = float((logits.argmax(axis=1) == dev.targets).mean())
        else:
            score = float(rank_correlation(logits.T, dev.targets[None, :].astype(float))[0])
        loss = cross_entropy if model.labels else squared_error
        lost = float(loss(torch.from_numpy(logits), torch.from_numpy(dev.targets), None))
        return (-1.0 if np.isnan(score) else score), lost

    return evaluate


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


MAY_ABSTAIN = 0.05  # share of original texts
PERTURBED = "perturbed"
HELD_OUT = "held_out"  # in what the record has after a phase
N_GRID = 101  # thresholds that are tried
ThresholdRule = Literal["few", "grid"]


def fit_temperature(logits: Floats, targets: Ints) -> float:
    """The divisor of the logits that makes the gold labels most likely."""
    import torch

    given = torch.from_numpy(logits)
    gold = torch.from_numpy(targets)
    # its logarithm is fitted, so that a temperature cannot fall below 0
    log_temperature = torch.zeros(1, dtype=given.dtype, requires_grad=True)
    optimizer = torch.optim.LBFGS(
        [log_temperature], lr=0.5, max_iter=100, line_search_fn="strong_wolfe"
    )

    def loss() -> Any:
        optimizer.zero_grad()
        value = torch.nn.functional.cross_entropy(given / log_temperature.exp(), gold)
        value.backward()
        return value

    optimizer.step(loss)
    # that of a model that is never wrong would go to 0
    return float(np.clip(np.exp(log_temperature.item()), 0.01, 100.0))


def fit_threshold(probabilities: Floats, may_abstain: float) -> float:
    """The highest threshold on the top probability by which no more than a share of original texts
    is abstained on.

    A higher threshold catches more perturbed texts, so no lower one is better. `probabilities` are
    those of original texts.

    >>> fit_threshold(np.array([[0.6, 0.4], [0.3, 0.7], [0.2, 0.8], [0.9, 0.1]]), 0.25)
    0.7
    """
    tops = np.sort(probabilities.max(axis=1))
    return float(tops[int(may_abstain * len(tops) + 1e-9)])


def search_threshold(original: Floats, is_right: Bools, perturbed: Floats) -> float:
    """The threshold of a grid over [1/N, 1] with the best mean of accuracy on original texts (an
    abstention is not correct) and of the share of perturbed texts abstained on; of equals the
    lowest.

    >>> original = np.array([[0.9, 0.1], [0.2, 0.8]])
    >>> perturbed = np.array([[0.6, 0.4], [0.55, 0.45]])
    >>> search_threshold(original, np.array([True, True]), perturbed)
    0.605
    """
    grid = np.round(np.linspace(1 / original.shape[1], 1.0, N_GRID), 6)
    tops = original.max(axis=1)
    passes = (tops[None, :] >= grid[:, None]) & is_right[None, :]
    caught = perturbed.max(axis=1)[None, :] < grid[:, None]
    return float(grid[int((passes.mean(axis=1) + caught.mean(axis=1)).argmax())])


def calibrate_after(
    job: Job,
    specs: Sequence[str] = (),
    may_abstain: float = MAY_ABSTAIN,
    rule: ThresholdRule = "few",
) -> AfterPhase:
    """After a phase: fit a temperature and, with transformations, a threshold between texts."""

    def after(model: TrainableModel) -> dict[str, Any]:
        dev = job.dev_inputs()
        logits = predict_logits(model, dev.texts)
        temperature = fit_temperature(logits, dev.targets)
        is_right = logits.argmax(axis=1) == dev.targets
        scaled = softmax(logits / temperature)
        found: dict[str, Any] = {
            "calibration": {"temperature": temperature, "threshold": None},
            "ece": {"before": _ece(softmax(logits), is_right), "after": _ece(scaled, is_right)},
        }
        if specs:
            perturbed_logits = predict_logits(model, job.dev_perturbed(specs).texts)
            perturbed = softmax(perturbed_logits / temperature)
            threshold = fit_threshold(scaled, may_abstain)
            if rule == "grid":
                threshold = search_threshold(scaled, is_right, perturbed)
            found["calibration"]["threshold"] = threshold
            passes = scaled.max(axis=1) >= threshold
            found[HELD_OUT] = {
                "accuracy": round(float((is_right & passes).mean()), 6),
                "caught": round(float((perturbed.max(axis=1) < threshold).mean()), 6),
            }
            found["abstained"] = {
                ORIGINAL: _abstained(scaled, threshold),
                PERTURBED: _abstained(perturbed, threshold),
            }
        return found

    return after


def _ece(probabilities: Floats, is_right: Bools) -> float:
    return round(calibration_error(probabilities.max(axis=1), is_right), 6)


def _abstained(probabilities: Floats, threshold: float) -> dict[str, float]:
    """The share of texts below the threshold, with its interval."""
    found = share(probabilities.max(axis=1) < threshold)
    return {name: round(getattr(found, name), 6) for name in ("value", "low", "high")}


def observe_after(job: Job, specs: Sequence[str]) -> AfterPhase:
    """After a phase: describe the predictions on dev texts, so that a collapse can be seen."""

    def after(model: TrainableModel) -> dict[str, Any]:
        predictions = {
            ORIGINAL: _describe(model, job.dev_inputs()),
            PERTURBED: _describe(model, job.dev_perturbed(specs)),
        }
        return {"predictions": predictions, "perturbed_by": list(specs)}

    return after


def in_turn(*steps: AfterPhase) -> AfterPhase:
    """Several steps one after the other, their results together."""

    def after(model: TrainableModel) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for step in steps:
            found |= step(model)
        return found

    return after


def _describe(model: TrainableModel, inputs: Inputs) -> dict[str, Any]:
    """Mean entropy in nats with its interval and largest value, and shares of labels."""
    probabilities = softmax(predict_logits(model, inputs.texts))
    n, n_labels = probabilities.shape
    if n_labels < 2:
        raise NothingToMeasure("the data has a single label")
    entropies = -(probabilities * np.log(np.maximum(probabilities, 1e-300))).sum(axis=1)
    most = float(np.log(n_labels))
    relative = mean(np.clip(entropies / most, 0, 1))
    counts = np.bincount(probabilities.argmax(axis=1), minlength=n_labels)
    return {
        "n": n,
        "entropy": round(relative.value * most, 6),
        "low": round(relative.low * most, 6),
        "high": round(relative.high * most, 6),
        "most": round(most, 6),
        "labels": {
            label: round(int(count) / n, 6)
            for label, count in zip(model.labels, counts, strict=True)
        },
    }


def write_calibration(folder: Path, after: Mapping[str, Any]) -> None:
    """Keep what was fitted beside the weights."""
    if "calibration" in after:
        Calibration(**after["calibration"]).write(folder)
