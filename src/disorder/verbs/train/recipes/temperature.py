"""Temperature scaling: is a model right as often as its confidence says? Guo et al. (2017), as in
Word Salad (Gupta et al., 2021), Table 8.
"""

from __future__ import annotations

from disorder.registry import recipe
from disorder.verbs.train.evaluation import calibrate_after
from disorder.verbs.train.recipe_plan import Job, Phase


@recipe(paper="WS", of_trained=True)
def temperature(job: Job, *, learn: bool = True) -> list[Phase]:
    """Plain training (none with learn=false), then a temperature that makes the held-out gold
    labels most likely.
    """
    phase = Phase(
        "task",
        job.inputs(),
        job.dev_inputs(),
        job.labels,
        job.loss,
        epochs=job.epochs(learn),
        after=calibrate_after(job),
    )
    return [phase]
