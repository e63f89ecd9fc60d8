"""Is it enough to abstain when unsure? Word Salad's threshold on the top probability (Gupta et al.,
2021).
"""

from __future__ import annotations

from disorder.registry import recipe
from disorder.verbs.train.calibrating import MAY_REFUSE, both, calibrated, observed
from disorder.verbs.train.recipe_plan import Job, Phase


@recipe(paper="WS", shares=("may_abstain",), of_trained=True, perturbs=True)
def threshold(job: Job, *, learn: bool = True, may_abstain: float = MAY_REFUSE) -> list[Phase]:
    """Plain training (none with learn=false), then a temperature and a threshold that abstains few
    original texts.
    """
    specs = job.perturbed_by()
    after = both(observed(job, specs), calibrated(job, specs, may_abstain))
    return [
        Phase(
            "task",
            job.copies("original"),
            job.dev_inputs(),
            job.labels,
            job.loss,
            job.epochs(learn),
            after=after,
        )
    ]
