"""Training inputs: texts with their targets, and which of them are perturbed copies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disorder.types import Bools, Example, Task, Texts


@dataclass(frozen=True, eq=False)
class Inputs:
    """Texts to train on, each with its target (a label number, or a number) and whether it is a
    perturbed copy.
    """

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
        """The texts whose words a network from scratch knows: original ones, where there are any.

        Perturbed copies would count each word again, so that no word were rare and the vector of
        unknown words were never trained.
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
