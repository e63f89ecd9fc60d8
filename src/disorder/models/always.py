"""The papers' Model A: one label for every text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from disorder.errors import BadModel
from disorder.registry import model
from disorder.types import Floats, Predictor, Task, Texts


@model(form="always:LABEL", only_reads=True)
def always(address: str, *, task: Task) -> Predictor:
    """Predicts LABEL for every text (the papers' Model A with the reject label)."""
    label = address or task.reject_label
    if not task.labels:
        raise BadModel(f"always predicts a label, but the task {task.name} is about numbers")
    if label not in task.labels:
        raise BadModel(f"always:{address}: name one of {', '.join(task.labels)}")
    return Always(task.labels, f"always:{label}", task.labels.index(str(label)))


@dataclass
class Always:
    """A predictor with one label."""

    labels: tuple[str, ...]
    fingerprint: str
    label: int

    def __call__(self, texts: Sequence[Texts], /) -> Floats:
        """The same label with certainty for every text."""
        return np.tile(np.eye(len(self.labels))[self.label], (len(texts), 1))
