"""Entropic regularisation: can a fine-tuned model be taught to have no opinion on nonsense? Word
Salad (Gupta et al., 2021).

Three more epochs from a fine-tuned model, with λ·KL(uniform‖p) on invalid texts (the paper writes +
λH and means − λH; this is what its code does). A model that is not fine-tuned is first trained on
the task.
"""

from __future__ import annotations

from typing import Any

from disorder.registry import recipe
from disorder.types import ORIGINAL
from disorder.verbs.train.evaluation import (
    MAY_ABSTAIN,
    ThresholdRule,
    calibrate_after,
    in_turn,
    observe_after,
)
from disorder.verbs.train.inputs import gold_loss, kl_from_uniform, mean_by_kind
from disorder.verbs.train.recipe_plan import Job, Phase

EPOCHS = 3


@recipe(paper="WS", positive=("lam",), shares=("may_abstain",), of_trained=True, perturbs=True)
def entropic(
    job: Job,
    *,
    lam: float = 1.0,
    may_abstain: float = MAY_ABSTAIN,
    rule: ThresholdRule = "few",
) -> list[Phase]:
    """Three epochs more for a fine-tuned model, with λ times KL(uniform‖p) on perturbed texts."""
    specs = job.perturbed_by()

    def loss(logits: Any, targets: Any, is_perturbed: Any) -> Any:
        regularised = lam * kl_from_uniform(logits)
        return mean_by_kind(is_perturbed, regularised, gold_loss(logits, targets))

    phases = []
    if not job.is_fine_tuned:
        originals = job.copies(ORIGINAL)
        phases.append(Phase("task", originals, job.dev_inputs(), job.labels, job.loss))
    mitigation = Phase(
        "mitigation",
        job.copies(ORIGINAL) + job.mixed(specs),
        job.dev_inputs(),
        job.labels,
        loss,
        epochs=EPOCHS,
        keeps_last=True,
        after=in_turn(observe_after(job, specs), calibrate_after(job, specs, may_abstain, rule)),
    )
    return [*phases, mitigation]
