"""How sure should a trained model be, and below which certainty should it abstain? Fitted on data
that it did not learn from.

Guo et al. (2017) for the temperature; Word Salad (Gupta et al., 2021) for the threshold on the top
probability. The paper searches [1/N, 1] for the best one and does not say what best is. Its tables
lose a point or two of accuracy, so abstaining most original texts is not it: here original texts may be
abstained up to a share, as is usual where strange inputs are to be found (Liang et al., 2018, whom
the paper names, count what is caught while 95 % of usual inputs pass).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from disorder.errors import NothingToMeasure
from disorder.metrics import ORIGINAL
from disorder.metrics.ece import calibration_error
from disorder.metrics.statistics.intervals import mean, share
from disorder.models.outputs.calibration import Calibration
from disorder.models.outputs.probabilities import softmax
from disorder.types import Floats, Ints
from disorder.verbs.train.learner import Learner
from disorder.verbs.train.loop import answers
from disorder.verbs.train.recipe_plan import Inputs, Job

MAY_REFUSE = 0.05  # of original texts
After = Callable[[Learner], Mapping[str, Any]]


def fit_temperature(logits: Floats, targets: Ints) -> float:
    """By what to divide logits so that the gold labels are most likely."""
    import torch

    given, gold = torch.from_numpy(logits), torch.from_numpy(targets)
    heat = torch.zeros(
        1, dtype=given.dtype, requires_grad=True
    )  # the logarithm, so that it cannot fall below 0
    optimizer = torch.optim.LBFGS([heat], lr=0.5, max_iter=100, line_search_fn="strong_wolfe")

    def loss() -> Any:
        optimizer.zero_grad()
        cost = torch.nn.functional.cross_entropy(given / heat.exp(), gold)
        cost.backward()
        return cost

    optimizer.step(loss)
    return float(
        np.clip(np.exp(heat.item()), 0.01, 100.0)
    )  # a model that is never wrong would go to 0


def fit_threshold(whole: Floats, may_abstain: float) -> float:
    """The top probability below which to abstain: the highest by which no more than a share of whole
    texts is abstained.

    The higher it is, the more perturbed texts it catches, so no lower one is better. `whole` are
    probabilities.

    >>> fit_threshold(np.array([[0.6, 0.4], [0.3, 0.7], [0.2, 0.8], [0.9, 0.1]]), 0.25)
    0.7
    """
    return float(np.sort(whole.max(axis=1))[int(may_abstain * len(whole) + 1e-9)])


def calibrated(job: Job, specs: Sequence[str] = (), may_abstain: float = MAY_REFUSE) -> After:
    """What to do when a phase ends: fit a temperature, and with transformations a threshold that
    tells their texts apart.
    """

    def after(learner: Learner) -> dict[str, Any]:
        dev = job.dev_inputs()
        logits = answers(learner, dev.texts)
        right, heat = logits.argmax(axis=1) == dev.targets, fit_temperature(logits, dev.targets)
        before, now = softmax(logits), softmax(logits / heat)
        errors = [round(calibration_error(each.max(axis=1), right), 6) for each in (before, now)]
        found: dict[str, Any] = {"ece": dict(zip(("before", "after"), errors, strict=True))}
        least = None
        if specs:
            least = fit_threshold(now, may_abstain)
            perturbed = softmax(answers(learner, job.dev_perturbed(specs).texts) / heat)
            found["abstained"] = {
                name: _refused(each, least)
                for name, each in ((ORIGINAL, now), ("perturbed", perturbed))
            }
        return {"calibration": {"temperature": heat, "threshold": least}, **found}

    return after


def _refused(probabilities: Floats, threshold: float) -> dict[str, float]:
    """The share of texts below the threshold, with its interval."""
    found = share(probabilities.max(axis=1) < threshold)
    return {name: round(getattr(found, name), 6) for name in ("value", "low", "high")}


def observed(job: Job, specs: Sequence[str]) -> After:
    """What to do when a phase ends: look at the answers to perturbed dev texts, so that a collapse can
    be seen.
    """

    def after(learner: Learner) -> dict[str, Any]:
        sets = {ORIGINAL: job.dev_inputs(), "perturbed": job.dev_perturbed(specs)}
        return {
            "answers": {name: _seen(learner, inputs) for name, inputs in sets.items()},
            "perturbed_by": list(specs),
        }

    return after


def both(*steps: After) -> After:
    """One after the other."""
    return lambda learner: {name: value for step in steps for name, value in step(learner).items()}


def _seen(learner: Learner, inputs: Inputs) -> dict[str, Any]:
    """Entropy with its interval, as a share of the most there can be, and how often each label is
    answered.
    """
    found = softmax(answers(learner, inputs.texts))
    if found.shape[1] < 2:
        raise NothingToMeasure("the data has a single label")
    nats = -(found * np.log(np.maximum(found, 1e-300))).sum(axis=1)
    most = float(np.log(found.shape[1]))
    part, counts = (
        mean(np.clip(nats / most, 0, 1)),
        np.bincount(found.argmax(axis=1), minlength=found.shape[1]),
    )
    labels = {
        label: round(int(n) / len(found), 6)
        for label, n in zip(learner.labels, counts, strict=True)
    }
    interval = {
        name: round(value * most, 6) for name, value in (("low", part.low), ("high", part.high))
    }
    return {
        "n": len(found),
        "entropy": round(part.value * most, 6),
        **interval,
        "most": round(most, 6),
        "labels": labels,
    }


def write_calibration(folder: Any, after: Mapping[str, Any]) -> None:
    """Keep what was fitted beside the weights."""
    if "calibration" in after:
        Calibration(**after["calibration"]).write(folder)
