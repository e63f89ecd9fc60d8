"""Can a model learn to say that a text is none? Word Salad's extra class for perturbed texts (Gupta et
al., 2021).

The trained model has one label more than the task. Audits know it: a text that it calls invalid
gets none of the task's labels.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from disorder.abstention import ABSTAINED
from disorder.errors import BadData
from disorder.registry import recipe
from disorder.verbs.train.calibrating import observed
from disorder.verbs.train.recipe_plan import Inputs, Job, Phase


@recipe(paper="WS", perturbs=True)
def invalid_class(job: Job) -> list[Phase]:
    """Cross-entropy with one more label, `invalid`, for perturbed texts; dev accuracy counts perturbed
    texts too.
    """
    if ABSTAINED in job.labels:
        raise BadData(f"invalid_class: the data has a label {ABSTAINED!r} of its own")
    specs = job.perturbed_by()

    def marked(perturbed: Inputs) -> Inputs:
        return replace(perturbed, targets=np.full(len(perturbed), len(job.labels)))

    train = job.copies("original") + marked(job.mixed(specs))
    dev = job.dev_inputs() + marked(job.dev_perturbed(specs))
    return [
        Phase("task", train, dev, (*job.labels, ABSTAINED), job.loss, after=observed(job, specs))
    ]
