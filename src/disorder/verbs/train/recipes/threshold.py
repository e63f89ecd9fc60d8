"""A threshold on the top probability: is it enough to abstain when the model is unsure? Word Salad
(Gupta et al., 2021).
"""

from __future__ import annotations

from disorder.registry import recipe
from disorder.types import ORIGINAL
from disorder.verbs.train.evaluation import (
    MAY_ABSTAIN,
    ThresholdRule,
    calibrate_after,
    in_turn,
    observe_after,
)
from disorder.verbs.train.recipe_plan import Job, Phase


@recipe(paper="WS", shares=("may_abstain",), of_trained=True, perturbs=True)
def threshold(
    job: Job,
    *,
    learn: bool = True,
    may_abstain: float = MAY_ABSTAIN,
    rule: ThresholdRule = "few",
) -> list[Phase]:
    """Plain training (none with learn=false), then a temperature and a threshold that abstains on
    few original texts.

    rule=grid searches the threshold that is best for original and perturbed texts together, as in
    the paper.
    """
    specs = job.perturbed_by()
    phase = Phase(
        "task",
        job.copies(ORIGINAL),
        job.dev_inputs(),
        job.labels,
        job.loss,
        epochs=job.epochs(learn),
        after=in_turn(observe_after(job, specs), calibrate_after(job, specs, may_abstain, rule)),
    )
    return [phase]
