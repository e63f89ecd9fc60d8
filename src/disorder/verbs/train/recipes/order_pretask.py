"""Does a model that first learned to tell real sentences from fake ones read order? Out of Order
(Pham et al., 2021), Table 4.

Fake sentences are real ones with two random words swapped (released: with one word moved), one for
every real one. Then the output layer is forgotten and the task is learned. A bag of words is all
output layer: it gains nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from disorder.errors import BadData
from disorder.registry import recipe
from disorder.types import Example, Fidelity, Task
from disorder.verbs.train.perturbed_copies import mixed
from disorder.verbs.train.recipe_plan import Inputs, Job, Phase, cross_entropy

LABELS = ("fake", "real")


@recipe(paper="OOO", spans=True)
def order_pretask(job: Job, *, fidelity: Fidelity = "paper") -> list[Phase]:
    """Tell real from fake sentences first, then learn the task with a new head."""
    spec = "move_word" if fidelity == "released" else "swap_words"
    train, dev = (
        _sentences(data.examples, job.task, spec, job.seed) for data in (job.train, job.dev)
    )
    return [
        Phase("real or fake", train, dev, LABELS, cross_entropy),
        job.task_phase(new_head=True),
    ]


def _sentences(examples: Sequence[Example], task: Task, spec: str, seed: int) -> Inputs:
    """The texts that the task breaks, as they are and faked, as many of one as of the other."""
    texts = [
        e.text_b if task.breaks == "b" and e.text_b is not None else e.text_a for e in examples
    ]
    alone = [Example(e.id, text, None, "real") for e, text in zip(examples, texts, strict=True)]
    fake = mixed(alone, task, [spec], seed=seed, context=None)
    if not fake.texts:
        raise BadData(f"order_pretask: no text has two words that could change places ({spec})")
    real = [alone[i].texts for i in fake.places]
    targets = np.repeat(np.array([1, 0]), len(real))
    return Inputs([*real, *fake.texts], targets, targets == 0)
