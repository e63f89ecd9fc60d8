"""An extra class for perturbed texts: can a model learn to say that a text is invalid? Word Salad
(Gupta et al., 2021).

The trained model has one label more than the task. Audits handle it: a text that it calls invalid
gets none of the task's labels.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from disorder.errors import BadData
from disorder.registry import recipe
from disorder.types import ORIGINAL
from disorder.types.predictions import ABSTAINED
from disorder.verbs.train.evaluation import observe_after
from disorder.verbs.train.inputs import Inputs
from disorder.verbs.train.recipe_plan import Job, Phase


@recipe(paper="WS", perturbs=True)
def invalid_class(job: Job) -> list[Phase]:
    """Cross-entropy with one more label, `invalid`, for perturbed texts; dev accuracy counts
    perturbed texts too.
    """
    if ABSTAINED in job.labels:
        raise BadData(f"invalid_class: the data has a label {ABSTAINED!r} of its own")
    specs = job.perturbed_by()
    labels = (*job.labels, ABSTAINED)

    def as_invalid(perturbed: Inputs) -> Inputs:
        return replace(perturbed, targets=np.full(len(perturbed), len(job.labels)))

    train = job.copies(ORIGINAL) + as_invalid(job.mixed(specs))
    dev = job.dev_inputs() + as_invalid(job.dev_perturbed(specs))
    return [Phase("task", train, dev, labels, job.loss, after=observe_after(job, specs))]
