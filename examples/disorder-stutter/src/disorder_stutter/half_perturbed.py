"""A training recipe: does a model stay right if it sees some disorder?"""

from __future__ import annotations

from typing import Any

from disorder.registry import recipe
from disorder.verbs.train import Job, Phase


@recipe(shares=("weight",))
def half_perturbed(job: Job, *, by: str = "stutter", weight: float = 0.5) -> list[Phase]:
    """Train on original texts and, with a smaller weight, on one perturbed copy of each."""

    def loss(logits: Any, targets: Any, is_perturbed: Any) -> Any:
        from torch.nn.functional import cross_entropy

        losses = cross_entropy(logits, targets, reduction="none")
        return (losses * (1 - (1 - weight) * is_perturbed.float())).mean()

    inputs = job.copies("original") + job.copies(by)
    return [Phase("task", inputs, job.dev_inputs(), job.task.labels, loss)]
