"""Focal loss: does a model that is not rewarded for certainty notice nonsense? As in Word Salad
(Gupta et al., 2021), Tables 8 and 9.
"""

from __future__ import annotations

from typing import Any

from disorder.registry import recipe
from disorder.verbs.train.inputs import gold_loss
from disorder.verbs.train.recipe_plan import Job, Phase


@recipe(paper="WS", positive=("gamma",))
def focal(job: Job, *, gamma: float = 2.0) -> list[Phase]:
    """Cross-entropy times (1 − p)^γ: the more certain the model is of the gold label, the less it
    counts.
    """

    def loss(logits: Any, targets: Any, is_perturbed: Any) -> Any:
        return gold_loss(logits, targets, gamma=gamma).mean()

    return [Phase("task", job.inputs(), job.dev_inputs(), job.labels, loss)]
