"""A pre-task on order: does a model that first learned to tell real sentences from fake ones read
order? Out of Order (Pham et al., 2021), Table 4.

Fake sentences are real ones with two random words swapped (released: with one word moved), one per
real one. Then the output layer is replaced and the task is trained. A bag of words is all output
layer: it gains nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from disorder.errors import BadData
from disorder.registry import recipe
from disorder.types import Example, Fidelity, Task
from disorder.verbs.train.inputs import Inputs, cross_entropy, perturbed_copies
from disorder.verbs.train.recipe_plan import Job, Phase

LABELS = ("fake", "real")


@recipe(paper="OOO", spans=True)
def order_pretask(job: Job, *, fidelity: Fidelity = "paper") -> list[Phase]:
    """Tell real from fake sentences first, then train on the task with a new head."""
    spec = "move_word" if fidelity == "released" else "swap_words"
    train = _real_and_fake(job.train.examples, job.task, spec, job.seed)
    dev = _real_and_fake(job.dev.examples, job.task, spec, job.seed)
    pretask = Phase("real or fake", train, dev, LABELS, cross_entropy)
    return [pretask, job.task_phase(new_head=True)]


def _real_and_fake(examples: Sequence[Example], task: Task, spec: str, seed: int) -> Inputs:
    """The texts that the task perturbs, as they are and faked, as many of one as of the other."""
    side = 1 if task.breaks == "b" else 0
    sentences = [Example.of(e.id, e.texts[side] or e.texts[0], None, "real") for e in examples]
    fake = perturbed_copies(sentences, task, [spec], seed=seed, context=None)
    if not fake.texts:
        raise BadData(f"order_pretask: no text has two words that could change places ({spec})")
    real = [sentences[i].texts for i in fake.examples]
    targets = np.repeat(np.array([1, 0]), len(real))
    return Inputs([*real, *fake.texts], targets, targets == 0)
