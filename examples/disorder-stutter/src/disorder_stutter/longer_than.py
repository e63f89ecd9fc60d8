"""A model backend: a predictor that counts words and looks at nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from disorder.errors import BadModel
from disorder.registry import model
from disorder.types import Floats, Predictor, Task, Texts


@model(form="longer_than:WORDS")
def longer_than(address: str, *, task: Task) -> Predictor:
    """Gives texts of more than WORDS words the task's last label, all others its first."""
    if not address.isdecimal():
        raise BadModel(f"longer_than:{address}: write a number of words, as in longer_than:8")
    return LengthModel(task.labels, f"longer_than:{address}", int(address))


@dataclass
class LengthModel:
    """A predictor needs labels, a fingerprint for the cache, and to be callable."""

    labels: tuple[str, ...]
    fingerprint: str
    n_words: int

    def __call__(self, texts: Sequence[Texts], /) -> Floats:
        """One row of probabilities per text, or pair of texts."""
        n_words = [len(f"{a} {b or ''}".split()) for a, b in texts]
        picks = [-1 if n > self.n_words else 0 for n in n_words]
        return np.eye(len(self.labels))[picks]
