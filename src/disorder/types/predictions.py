"""Predictions: what a model gave for some inputs, as values and an outcome each; and the one rule
by which probabilities become a label, or none.

A model that abstains has said something: the text is none of the labels. A model that failed (it
refused, its reply names no label) has said nothing: its values are NaN, and the outcome says why.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

ABSTAINED = "invalid"  # the label by which a model says that a text is no text
ANSWERED = "answered"
ABSTAINS = "abstained"
FAILED = "failed: "  # an outcome that begins so goes on with the reason
# reasons that say something of the text: the model read it, and named no one label
REFUSED = "the model refused"
NO_LABEL = "no label in the reply"
SEVERAL_LABELS = "several labels in the reply"
UNLIKELY_LABELS = "no label among the likeliest tokens"
DECLINED = (REFUSED, NO_LABEL, SEVERAL_LABELS, UNLIKELY_LABELS)


@dataclass(frozen=True, eq=False)
class Prediction:
    """What a model gave for one input.

    `mass` is the share of the probability that the labels got together, NaN where the model does
    not say.
    """

    values: NDArray[np.float64]
    outcome: str = ANSWERED
    mass: float = float("nan")

    @classmethod
    def failed(cls, reason: str, width: int) -> Prediction:
        """No prediction, and why."""
        return cls(np.full(width, np.nan), FAILED + reason)


@dataclass(frozen=True, eq=False)
class Predictions:
    """What a model gave for some inputs: a row of values and an outcome for each.

    An outcome is "answered", "abstained", or "failed: " and the reason; the values of a failed
    input are NaN.
    """

    values: NDArray[np.float64]
    outcomes: NDArray[np.object_]

    @classmethod
    def answered(cls, values: NDArray[np.float64]) -> Predictions:
        """Those of a model that answered every input."""
        return cls(values, np.full(len(values), ANSWERED, dtype=object))

    @classmethod
    def empty(cls, n: int, width: int) -> Predictions:
        """Room for n predictions."""
        return cls.answered(np.full((n, width), np.nan))

    @classmethod
    def joined(cls, parts: Sequence[Predictions]) -> Predictions:
        """Several predictions as one."""
        return cls(
            np.concatenate([part.values for part in parts]),
            np.concatenate([part.outcomes for part in parts]),
        )

    def __len__(self) -> int:
        return len(self.values)

    @property
    def is_failed(self) -> NDArray[np.bool_]:
        """Which inputs have no prediction."""
        return is_failed(self.outcomes)

    def take(self, chosen: Any) -> Predictions:
        """Some of the predictions."""
        return Predictions(self.values[chosen], self.outcomes[chosen])

    def put(self, places: Any, predictions: Predictions) -> None:
        """Enter predictions at some places."""
        self.values[places] = predictions.values
        self.outcomes[places] = predictions.outcomes

    def split(self, counts: Sequence[int]) -> list[Predictions]:
        """The predictions of each example, which has so many."""
        ends = np.cumsum(counts).tolist()
        return [
            self.take(slice(end - n, end)) for end, n in zip(ends, map(int, counts), strict=True)
        ]


def is_failed(outcomes: NDArray[np.object_]) -> NDArray[np.bool_]:
    """Which outcomes say that there is no prediction.

    >>> is_failed(np.array(["answered", "failed: the model refused"], dtype=object)).tolist()
    [False, True]
    """
    found = outcomes != ANSWERED
    for i in np.flatnonzero(found).tolist():  # few, if any
        found[i] = outcomes[i].startswith(FAILED)
    return np.asarray(found, dtype=bool)


def is_declined(outcomes: NDArray[np.object_]) -> NDArray[np.bool_]:
    """Which outcomes say that the model read a text and would not label it.

    >>> is_declined(np.array(["answered", "failed: the model refused"], dtype=object)).tolist()
    [False, True]
    """
    return np.isin(outcomes.astype(str), [FAILED + reason for reason in DECLINED])


def predicted_label(probabilities: NDArray[np.float64]) -> NDArray[np.int64]:
    """The label number that each row of probabilities predicts; −1 where the model abstains, or
    gave no answer (NaN).

    What a row lacks to 1 is the probability of abstaining. It has no column: it is none of the
    task's labels.

    >>> predicted_label(np.array([[0.2, 0.8], [0.1, 0.3]])).tolist()
    [1, -1]
    """
    labels = np.asarray(probabilities.argmax(axis=-1))
    if probabilities.shape[-1] < 2:  # one number, or a single label
        return labels
    is_kept = 1 - probabilities.sum(axis=-1) <= probabilities.max(axis=-1)  # False for NaN
    return np.where(is_kept, labels, -1)


def with_abstention(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """The probabilities with that of abstaining as a last column, so that label number −1 has a
    column too.

    >>> with_abstention(np.array([[0.25, 0.5]])).tolist()
    [[0.25, 0.5, 0.25]]
    """
    return np.concatenate(
        [probabilities, np.maximum(0.0, 1 - probabilities.sum(axis=-1, keepdims=True))], axis=-1
    )
