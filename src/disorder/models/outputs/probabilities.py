"""Checks of what a model gave back: is it a set of probabilities?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from disorder.abstention import no_answer_codes
from disorder.errors import BadModel
from disorder.types import Bools, Floats


def softmax(logits: Floats) -> Floats:
    """Probabilities from logits, row by row."""
    shifted = np.exp(logits.astype(np.float64) - logits.max(axis=1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=1, keepdims=True))


def checked(name: str, predictions: Any, n: int, labels: Sequence[str]) -> Floats:
    """The predictions as an n × labels array of probabilities, or an error that says what is wrong
    with them.
    """
    try:
        array = np.asarray(predictions, dtype=np.float64)
    except (TypeError, ValueError):
        raise BadModel(
            f"{name}: predictions must be numbers, one row per text and one column per label"
        ) from None
    width = max(1, len(labels))
    array = array.reshape(n, 1) if array.shape == (n,) and width == 1 else array
    if array.shape != (n, width):
        raise BadModel(
            f"{name}: predictions have shape {array.shape}; need ({n}, {width}): "
            "one row per text, one column per label"
        )
    if not np.isfinite(array).all():
        raise BadModel(f"{name}: predictions hold NaN or infinity")
    if labels and not are_shares(array).all():
        raise BadModel(
            f"{name}: rows must be probabilities that sum to 1; apply a softmax to logits"
        )
    return array


def are_shares(array: Floats) -> Bools:
    """Which rows are probabilities that sum to 1, or stand for a text without an answer."""
    is_share = (array >= -1e-6).all(axis=1) & (abs(array.sum(axis=1) - 1) <= 1e-3)
    return np.asarray(is_share | (no_answer_codes(array) > 0))


def from_label_scores(
    name: str,
    predictions: Sequence[Any],
    labels: Sequence[str],
    hint: Callable[[str], str] = lambda label: "",
) -> Floats:
    """Probabilities from label names, or from dictionaries of label and score; `hint` says what to
    do about a label that is none of these.
    """
    columns = {label: i for i, label in enumerate(labels)}
    array = np.zeros((len(predictions), len(labels)))
    for row, prediction in enumerate(predictions):
        scores = _scores(name, prediction)
        if len(scores) == 1 < len(labels) and sum(scores.values()) < 1 - 1e-3:
            raise BadModel(
                f"{name}: gave the score of its top label only; need the scores of all (top_k=None)"
            )
        for label, score in scores.items():
            if label not in columns:
                raise BadModel(
                    f"{name}: predicted {label!r}, which is none of {', '.join(labels)}"
                    f"{hint(label)}"
                )
            array[row, columns[label]] = score
    return array


def _scores(name: str, prediction: Any) -> dict[str, float]:
    if isinstance(prediction, str):
        return {prediction: 1.0}
    try:
        if isinstance(prediction, dict) and set(prediction) == {"label", "score"}:
            prediction = [prediction]
        if isinstance(prediction, list):
            return {str(item["label"]): float(item["score"]) for item in prediction}
        return {str(label): float(score) for label, score in prediction.items()}
    except (AttributeError, KeyError, TypeError, ValueError):
        raise BadModel(
            f"{name}: cannot read the prediction {prediction!r}; need a label, or scores by label"
        ) from None
