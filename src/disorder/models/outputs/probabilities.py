"""Is what a model gave back a set of probabilities? Every model's answers pass through here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from disorder.errors import BadModel
from disorder.types import Floats


def softmax(logits: Floats) -> Floats:
    """Probabilities from logits, row by row."""
    shifted = np.exp(logits.astype(np.float64) - logits.max(axis=1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=1, keepdims=True))


def checked(name: str, answers: Any, n: int, labels: Sequence[str]) -> Floats:
    """The answers as an n × labels array of probabilities, or an error that says what is wrong with
    them.
    """
    try:
        array = np.asarray(answers, dtype=np.float64)
    except (TypeError, ValueError):
        raise BadModel(
            f"{name}: answers must be numbers, one row a text and one column a label"
        ) from None
    width = max(1, len(labels))
    array = array.reshape(n, 1) if array.shape == (n,) and width == 1 else array
    if array.shape != (n, width):
        raise BadModel(
            f"{name}: answers have shape {array.shape}; need ({n}, {width}): one row a text, one column a label"
        )
    if not np.isfinite(array).all():
        raise BadModel(f"{name}: answers hold NaN or infinity")
    if labels and (array.min(initial=0) < -1e-6 or (n and abs(array.sum(axis=1) - 1).max() > 1e-3)):
        raise BadModel(
            f"{name}: rows must be probabilities that sum to 1; apply a softmax to logits"
        )
    return array


def from_pipeline_output(name: str, answers: Sequence[Any], labels: Sequence[str]) -> Floats:
    """Probabilities from label names, or from dictionaries of label and score."""
    columns = {label: i for i, label in enumerate(labels)}
    array = np.zeros((len(answers), len(labels)))
    for row, answer in enumerate(answers):
        scores = _scores(name, answer)
        if len(scores) == 1 < len(labels) and sum(scores.values()) < 1 - 1e-3:
            raise BadModel(
                f"{name}: answered with its top label only; ask it for the scores of all (top_k=None)"
            )
        for label, score in scores.items():
            if label not in columns:
                raise BadModel(f"{name}: answered {label!r}, which is none of {', '.join(labels)}")
            array[row, columns[label]] = score
    return array


def _scores(name: str, answer: Any) -> dict[str, float]:
    if isinstance(answer, str):
        return {answer: 1.0}
    try:
        if isinstance(answer, dict) and set(answer) == {"label", "score"}:
            answer = [answer]
        pairs = (
            [(item["label"], item["score"]) for item in answer]
            if isinstance(answer, list)
            else answer.items()
        )
        return {label: float(score) for label, score in pairs}
    except (AttributeError, KeyError, TypeError, ValueError):
        raise BadModel(
            f"{name}: cannot read the answer {answer!r}; need a label, or scores by label"
        ) from None
