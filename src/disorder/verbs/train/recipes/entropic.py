"""Can a fine-tuned model be taught to have no opinion on nonsense? Word Salad's entropic
regularisation (Gupta et al., 2021).

Three more epochs from a fine-tuned model, with λ·KL(uniform‖p) on invalid texts (the paper writes +
λH and means − λH; this is what its code does). A model that is not fine-tuned yet learns the task
first.
"""

from __future__ import annotations

from typing import Any

from disorder.registry import recipe
from disorder.verbs.train.calibrating import MAY_REFUSE, both, calibrated, observed
from disorder.verbs.train.losses import chosen, from_uniform, gold_loss
from disorder.verbs.train.recipe_plan import Job, Phase

EPOCHS = 3


@recipe(paper="WS", positive=("lam",), shares=("may_abstain",), of_trained=True, perturbs=True)
def entropic(job: Job, *, lam: float = 1.0, may_abstain: float = MAY_REFUSE) -> list[Phase]:
    """Three epochs more for a fine-tuned model, with λ times KL(uniform‖p) on perturbed texts."""
    specs = job.perturbed_by()

    def loss(logits: Any, targets: Any, is_perturbed: Any) -> Any:
        return chosen(is_perturbed, lam * from_uniform(logits), gold_loss(logits, targets))

    first = (
        []
        if job.is_fine_tuned
        else [Phase("task", job.copies("original"), job.dev_inputs(), job.labels, job.loss)]
    )
    inputs, after = (
        job.copies("original") + job.mixed(specs),
        both(observed(job, specs), calibrated(job, specs, may_abstain)),
    )
    return [
        *first,
        Phase(
            "mitigation",
            inputs,
            job.dev_inputs(),
            job.labels,
            loss,
            EPOCHS,
            keeps_last=True,
            after=after,
        ),
    ]
