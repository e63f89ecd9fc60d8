"""Reference models: what the papers' imaginary models would score on the same examples.

They share the predictions for original texts. UNLI's Model A takes every perturbed text for
meaningless and rejects it; B guesses uniformly; C is a bag of words and never changes its
prediction.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from disorder.randomness import generator
from disorder.types import Outcomes


def references(outcomes: Outcomes) -> Iterator[tuple[str, Outcomes]]:
    """The reference models by name with their outcomes.

    One after another, since each is as large as the outcomes themselves.
    """
    if outcomes.task.reject_label is not None:
        yield "A: rejects", _rejects(outcomes)
    yield "B: guesses", _guesses(outcomes)
    yield "C: bag of words", _unchanged(outcomes)


def _rejects(outcomes: Outcomes) -> Outcomes:
    assert outcomes.task.reject_label is not None
    number = outcomes.task.labels.index(outcomes.task.reject_label)
    certain = np.eye(len(outcomes.task.labels), dtype=np.float32)[number]
    return _predicting(outcomes, np.broadcast_to(certain, outcomes.predictions.shape))


def _guesses(outcomes: Outcomes) -> Outcomes:
    m = len(outcomes.task.labels)
    n_examples, n_variants = outcomes.predictions.shape[:2]
    picks = [
        generator(outcomes.seed, "guess", str(i)).integers(m, size=n_variants)
        for i in outcomes.example
    ]
    numbers = np.array(picks, dtype=np.int64).reshape(n_examples, n_variants)
    return _predicting(outcomes, np.eye(m, dtype=np.float32)[numbers])


def _unchanged(outcomes: Outcomes) -> Outcomes:
    original = outcomes.original[:, None, :]
    return _predicting(outcomes, np.broadcast_to(original, outcomes.predictions.shape))


def _predicting(outcomes: Outcomes, predictions: Any) -> Outcomes:
    """The outcomes with other predictions for the variants that exist."""
    kept = np.where(outcomes.is_predicted[:, :, None], predictions, np.float32(np.nan))
    return replace(outcomes, predictions=kept)
