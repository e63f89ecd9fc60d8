"""How would the papers' imaginary models score on the same examples, given the same answers to
original texts?

UNLI's Model A takes every perturbed text for meaningless and rejects it; B guesses uniformly; C is a
bag of words and never changes its answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from disorder.randomness import generator
from disorder.types import Outcomes


def references(outcomes: Outcomes) -> Iterator[tuple[str, Outcomes]]:
    """The reference models by name with their outcomes, one after another: each is as large as the
    outcomes themselves.
    """
    if outcomes.task.reject_label is not None:
        yield "A: rejects", _rejects(outcomes)
    yield "B: guesses", _guesses(outcomes)
    yield "C: bag of words", _unchanged(outcomes)


def _rejects(outcomes: Outcomes) -> Outcomes:
    assert outcomes.task.reject_label is not None
    answer = np.eye(len(outcomes.task.labels), dtype=np.float32)[
        outcomes.task.labels.index(outcomes.task.reject_label)
    ]
    return _answering(outcomes, np.broadcast_to(answer, outcomes.predictions.shape))


def _guesses(outcomes: Outcomes) -> Outcomes:
    m = len(outcomes.task.labels)
    picks = [
        generator(outcomes.seed, "guess", str(i)).integers(m, size=outcomes.predictions.shape[1])
        for i in outcomes.example
    ]
    answers = np.eye(m, dtype=np.float32)[
        np.array(picks, dtype=np.int64).reshape(outcomes.predictions.shape[:2])
    ]
    return _answering(outcomes, answers)


def _unchanged(outcomes: Outcomes) -> Outcomes:
    return _answering(
        outcomes, np.broadcast_to(outcomes.original[:, None, :], outcomes.predictions.shape)
    )


def _answering(outcomes: Outcomes, answers: Any) -> Outcomes:
    return replace(
        outcomes,
        predictions=np.where(outcomes.is_predicted[:, :, None], answers, np.float32(np.nan)),
    )
