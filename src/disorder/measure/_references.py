"""How would the papers' imaginary models score on the same examples, given the same answers to whole texts?

UNLI's Model A takes every broken text for meaningless and rejects it; B guesses uniformly; C is a bag of words and never
changes its answer.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from disorder.rng import generator
from disorder.types import Outcomes


def references(outcomes: Outcomes) -> dict[str, Outcomes]:
    """Outcomes of the reference models, by name."""
    models = {"B: guesses": _guesses(outcomes), "C: bag of words": _unchanged(outcomes)}
    if outcomes.task.reject_label is None:
        return models
    return {"A: rejects": _rejects(outcomes), **models}


def _rejects(outcomes: Outcomes) -> Outcomes:
    assert outcomes.task.reject_label is not None
    answer = np.eye(len(outcomes.task.labels))[outcomes.task.labels.index(outcomes.task.reject_label)]
    return _answering(outcomes, np.broadcast_to(answer, outcomes.answers.shape))


def _guesses(outcomes: Outcomes) -> Outcomes:
    m = len(outcomes.task.labels)
    picks = [generator(outcomes.seed, "guess", str(i)).integers(m, size=outcomes.answers.shape[1]) for i in outcomes.example]
    return _answering(outcomes, np.eye(m)[np.array(picks, dtype=np.int64).reshape(outcomes.answers.shape[:2])])


def _unchanged(outcomes: Outcomes) -> Outcomes:
    return _answering(outcomes, np.broadcast_to(outcomes.original[:, None, :], outcomes.answers.shape))


def _answering(outcomes: Outcomes, answers: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> Outcomes:
    return replace(outcomes, answers=np.where(outcomes.is_asked[:, :, None], answers, np.nan))
