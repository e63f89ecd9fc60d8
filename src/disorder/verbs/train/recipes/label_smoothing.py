"""Label smoothing: does a model that was never told to be certain notice nonsense? As in Word Salad
(Gupta et al., 2021), Tables 8 and 9.
"""

from __future__ import annotations

from typing import Any

from disorder.registry import recipe
from disorder.verbs.train.inputs import gold_loss
from disorder.verbs.train.recipe_plan import Job, Phase


@recipe(paper="WS", shares=("smoothing",))
def label_smoothing(job: Job, *, smoothing: float = 0.1) -> list[Phase]:
    """Cross-entropy against labels of which a share is spread evenly over all."""

    def loss(logits: Any, targets: Any, is_perturbed: Any) -> Any:
        return gold_loss(logits, targets, smoothing=smoothing).mean()

    return [Phase("task", job.inputs(), job.dev_inputs(), job.labels, loss)]
