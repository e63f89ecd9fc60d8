"""Is a model as often right as it says? Temperature scaling (Guo et al., 2017), as Word Salad tries
it (Table 8).
"""

from __future__ import annotations

from disorder.registry import recipe
from disorder.verbs.train.calibrating import calibrated
from disorder.verbs.train.recipe_plan import Job, Phase


@recipe(paper="WS", of_trained=True)
def temperature(job: Job, *, learn: bool = True) -> list[Phase]:
    """Plain training (none with learn=false), then a temperature that makes the held-out gold
    labels most likely.
    """
    train, after = job.inputs(), calibrated(job)
    return [
        Phase("task", train, job.dev_inputs(), job.labels, job.loss, job.epochs(learn), after=after)
    ]
