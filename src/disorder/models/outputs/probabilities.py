"""Checks of what a model gave back: is it a set of probabilities?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disorder.errors import BadModel
from disorder.types import Bools, Floats
from disorder.types.predictions import ABSTAINS, ANSWERED, FAILED, Predictions


def softmax(logits: Floats) -> Floats:
    """Probabilities from logits, row by row."""
    shifted = np.exp(logits.astype(np.float64) - logits.max(axis=1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=1, keepdims=True))


def checked(name: str, predictions: Any, n: int, labels: Sequence[str]) -> Predictions:
    """The predictions as an n × labels array of probabilities with their outcomes, or an error that
    says what is wrong with them. An array without outcomes is of a model that always answers.
    """
    given = predictions if isinstance(predictions, Predictions) else None
    array = _shaped(name, predictions if given is None else given.values, n, labels)
    if given is None:
        found = Predictions.answered(array)
    else:
        array = array.copy()
        found = Predictions(array, _outcomes(name, given.outcomes, n))
        array[found.is_failed] = np.nan
        array[found.outcomes == ABSTAINS] = 0.0 if labels else np.nan
    answered = array if given is None else array[found.outcomes == ANSWERED]
    if not np.isfinite(answered).all():
        raise BadModel(f"{name}: predictions hold NaN or infinity")
    if labels and not are_shares(answered).all():
        raise BadModel(
            f"{name}: rows must be probabilities that sum to 1; apply a softmax to logits"
        )
    return found


def _shaped(name: str, predictions: Any, n: int, labels: Sequence[str]) -> Floats:
    try:
        if np.iscomplexobj(predictions):
            raise BadModel(f"{name}: predictions are complex numbers; need real ones")
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
    return array


def _outcomes(name: str, outcomes: Any, n: int) -> NDArray[np.object_]:
    found = np.array([str(each) for each in outcomes], dtype=object)
    known = all(each in (ANSWERED, ABSTAINS) or each.startswith(FAILED) for each in found)
    if len(found) != n or not known:
        raise BadModel(
            f"{name}: outcomes must be one per text: {ANSWERED}, {ABSTAINS} or {FAILED}REASON"
        )
    return found


def are_shares(array: Floats) -> Bools:
    """Which rows are probabilities that sum to 1."""
    return np.asarray((array >= -1e-6).all(axis=1) & (abs(array.sum(axis=1) - 1) <= 1e-3))


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
            return {str(item["label"]): _real(item["score"]) for item in prediction}
        return {str(label): _real(score) for label, score in prediction.items()}
    except (AttributeError, KeyError, TypeError, ValueError):
        raise BadModel(
            f"{name}: cannot read the prediction {prediction!r}; need a label, or scores by label"
        ) from None


def _real(score: Any) -> float:
    if np.iscomplexobj(score):  # numpy's would lose their imaginary part
        raise TypeError
    return float(score)
