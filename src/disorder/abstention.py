"""Abstention: the one rule by which probabilities become a label, or none."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

ABSTAINED = "invalid"  # the label by which a model says that a text is no text


def predicted_label(probabilities: NDArray[np.float64]) -> NDArray[np.int64]:
    """The label number that each row of probabilities predicts; −1 where the model abstains.

    What a row lacks to 1 is the probability of abstaining. It has no column: it is none of the
    task's labels.

    >>> predicted_label(np.array([[0.2, 0.8], [0.1, 0.3]])).tolist()
    [1, -1]
    """
    labels = np.asarray(probabilities.argmax(axis=-1))
    if probabilities.shape[-1] < 2:  # one number, or a single label
        return labels
    return np.where(1 - probabilities.sum(axis=-1) > probabilities.max(axis=-1), -1, labels)


def with_abstention(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """The probabilities with that of abstaining as a last column, so that label number −1 has a
    column too.

    >>> with_abstention(np.array([[0.25, 0.5]])).tolist()
    [[0.25, 0.5, 0.25]]
    """
    return np.concatenate(
        [probabilities, np.maximum(0.0, 1 - probabilities.sum(axis=-1, keepdims=True))], axis=-1
    )
