"""The papers' Model B: a uniform guess."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from disorder.errors import BadModel
from disorder.randomness import digest
from disorder.registry import model
from disorder.types import Floats, Predictor, Segments, Task, Texts, listed_segment


@model(form="uniform[:SEED]", only_reads=True)
def uniform(address: str, *, task: Task) -> Predictor:
    """Guesses a label uniformly at random, by a hash of the text (the papers' Model B)."""
    if not task.labels:
        raise BadModel(f"uniform guesses labels, but the task {task.name} is about numbers")
    if address and not address.isdecimal():
        raise BadModel(f"uniform:{address}: the seed must be a whole number")
    return Uniform(task.labels, f"uniform:{address or 0}", int(address or 0))


@dataclass
class Uniform:
    """A predictor that guesses; the same text always gets the same guess."""

    labels: tuple[str, ...]
    fingerprint: str
    seed: int

    def __call__(self, texts: Sequence[Texts], /) -> Floats:
        """A label with certainty for each text, drawn uniformly."""
        hashes = [
            int.from_bytes(digest(self.seed, a, "\1" if b is None else b)[:8], "big")
            for a, b in texts
        ]
        picks = np.array([value % len(self.labels) for value in hashes], dtype=np.int64)
        return np.eye(len(self.labels))[picks]

    def predict_segments(self, inputs: Sequence[Segments], /) -> Floats:
        """An option with certainty for each question, drawn uniformly."""
        offered = [listed_segment(each, "options") for each in inputs]
        picks = [
            int.from_bytes(digest(self.seed, str(each["question"]), *options)[:8], "big")
            % len(options)
            for each, options in zip(inputs, offered, strict=True)
        ]
        return np.eye(len(self.labels))[np.array(picks, dtype=np.int64)]

    def log_likelihoods(self, texts: Sequence[str], /) -> Floats:
        """A number for each text, drawn uniformly."""
        drawn = [int.from_bytes(digest(self.seed, text)[:6], "big") for text in texts]
        return np.array(drawn, dtype=np.float64) / 2**48
