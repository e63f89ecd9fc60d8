"""Training inputs: texts with their targets, and which of them are perturbed copies, one per
example, by one of several transformations drawn for it; and the losses over them: the usual ones of
a batch, and what the mitigations reward, one number per row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disorder.errors import DoesNotApply
from disorder.randomness import generator
from disorder.transformations import parse, suite
from disorder.transformations.rendering import variant_texts
from disorder.types import Bools, Context, Example, Fidelity, Task, Texts


@dataclass(frozen=True, eq=False)
class Inputs:
    """Texts to train on, each with its target and whether it is a perturbed copy."""

    texts: Sequence[Texts]
    targets: NDArray[Any]
    is_perturbed: Bools

    def __len__(self) -> int:
        return len(self.texts)

    def __add__(self, more: Inputs) -> Inputs:
        return Inputs(
            [*self.texts, *more.texts],
            np.concatenate([self.targets, more.targets]),
            np.concatenate([self.is_perturbed, more.is_perturbed]),
        )

    @property
    def is_pair(self) -> bool:
        """Whether there are two texts."""
        return self.texts[0][1] is not None

    @property
    def vocabulary_texts(self) -> list[Texts]:
        """The texts whose words a network from scratch knows: original ones, since with perturbed
        copies no word were rare and unknown words were never trained.
        """
        pairs = zip(self.texts, self.is_perturbed, strict=True)
        originals = [text for text, is_perturbed in pairs if not is_perturbed]
        return originals or list(self.texts)


def label_targets(examples: Sequence[Example], task: Task) -> NDArray[Any]:
    """Gold labels as numbers: positions in the task's labels, or the numbers themselves."""
    if task.is_regression:
        return np.array([float(e.label) for e in examples], dtype=np.float32)
    numbers = {label: i for i, label in enumerate(task.labels)}
    return np.array([numbers[e.label] for e in examples], dtype=np.int64)


def answer_targets(examples: Sequence[Example]) -> NDArray[Any]:
    """Gold answers in a passage: one tuple of (text, start) pairs per example."""
    found = np.empty(len(examples), dtype=object)
    found[:] = [e.answers for e in examples]
    return found


@dataclass(frozen=True)
class PerturbedCopies:
    """Perturbed texts with the numbers of their examples; those left out by part and reason."""

    texts: list[Texts]
    examples: list[int]
    skips: dict[str, Counter[str]]

    def completed(self, examples: Sequence[Example]) -> PerturbedCopies:
        """The copies of all examples, where those that could not be perturbed are as they were."""
        found = dict(zip(self.examples, self.texts, strict=True))
        texts = [found.get(i, example.texts) for i, example in enumerate(examples)]
        return PerturbedCopies(texts, list(range(len(examples))), self.skips)


def perturbed_copies(
    examples: Sequence[Example],
    task: Task,
    specs: Sequence[str],
    *,
    seed: int,
    context: Context | None,
    fidelity: Fidelity = "paper",
) -> PerturbedCopies:
    """One perturbed copy of every example that any of the transformations applies to."""
    drawn = [int(generator(seed, "mix", example.id).integers(len(specs))) for example in examples]
    found: dict[int, Texts] = {}
    skips: dict[str, Counter[str]] = {spec: Counter() for spec in specs}
    # an example that its transformation does not apply to is given to the next one
    for turn in range(len(specs)):
        for number, spec in enumerate(specs):
            places = [
                i
                for i, first in enumerate(drawn)
                if i not in found and (first + turn) % len(specs) == number
            ]
            some = [examples[i] for i in places]
            perturbed = parse(spec, fidelity=fidelity).apply_all(
                some, task=task, q=1, seed=seed, short="use", context=context
            )
            for i, variants in zip(places, perturbed, strict=True):
                if isinstance(variants, DoesNotApply):
                    skips[spec][str(variants)] += 1
                else:
                    found[i] = variant_texts(variants)[0]
    kept = sorted(found)
    return PerturbedCopies([found[i] for i in kept], kept, skips)


def salad_specs(*, is_pair: bool, has_model: bool) -> list[str]:
    """Word Salad's transformations that can be made here: some need pairs, some a model."""
    found = [parse(spec) for spec in suite("salad")]
    return [
        each.spec
        for each in found
        if "training data" not in each.needs
        and (is_pair or all(step.part.scope == "sentence" for step in each.steps))
        and (has_model or not each.needs - {"tags"})
    ]


def cross_entropy(logits: Any, targets: Any, is_perturbed: Any) -> Any:
    """The usual loss for labels: the mean of a batch."""
    from torch.nn import functional

    return functional.cross_entropy(logits, targets)


def squared_error(logits: Any, targets: Any, is_perturbed: Any) -> Any:
    """The usual loss for numbers: the mean of a batch."""
    return ((logits[:, 0] - targets) ** 2).mean()


def gold_loss(logits: Any, targets: Any, *, smoothing: float = 0.0, gamma: float = 0.0) -> Any:
    """Cross-entropy per row, against smoothed labels or times (1 − p)^gamma of the gold one."""
    from torch.nn import functional

    losses = functional.cross_entropy(logits, targets, reduction="none", label_smoothing=smoothing)
    if not gamma:
        return losses
    gold = logits.softmax(dim=1).gather(1, targets[:, None])[:, 0]
    return (1 - gold) ** gamma * losses


def entropy(logits: Any) -> Any:
    """The entropy of each row's prediction, in nats."""
    logs = logits.log_softmax(dim=1)
    return -(logs.exp() * logs).sum(dim=1)


def kl_from_uniform(logits: Any) -> Any:
    """KL(uniform‖p) per row: 0 where all labels are equally likely."""
    return -log(logits.shape[1]) - logits.log_softmax(dim=1).mean(dim=1)


def mean_by_kind(is_perturbed: Any, perturbed: Any, original: Any) -> Any:
    """The batch mean of one loss for perturbed rows and another for original ones."""
    import torch

    return torch.where(is_perturbed, perturbed, original).mean()
