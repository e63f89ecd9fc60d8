"""Abstention: the one rule by which probabilities become a label, or none; and texts without an
answer.

A model that abstains has said something: the text is none of the labels. A model that gives no
answer (it refused, its reply names no label) has said nothing: a row of one impossible number
stands for that until it is counted, NaN from then on.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

ABSTAINED = "invalid"  # the label by which a model says that a text is no text
IMPOSSIBLE = -1_000_000  # no probability, and no number that a regression predicts
# Why there is no answer. The code is the place from 1 on and stands in caches: new ones come last.
UNREAD = "the reply cannot be read"
NO_ANSWERS = (
    "the model refused",
    "no label in the reply",
    "several labels in the reply",
    "the reply ended while thinking",
    "no label among the likeliest tokens",
    "the server rejected the text",
    UNREAD,
)


def no_answer(reason: str, width: int) -> NDArray[np.float64]:
    """The row that stands for a text without an answer.

    >>> no_answer("no label in the reply", 2).tolist()
    [-1000002.0, -1000002.0]
    """
    return np.full(width, float(IMPOSSIBLE - 1 - NO_ANSWERS.index(reason)))


def no_answer_codes(rows: NDArray[np.floating]) -> NDArray[np.int64]:
    """For each row its code where it stands for no answer, else 0.

    >>> no_answer_codes(np.array([[0.2, 0.8], [-1000002.0, -1000002.0]])).tolist()
    [0, 2]
    """
    codes = np.nan_to_num(IMPOSSIBLE - rows[:, 0])
    is_code = (codes >= 1) & (codes <= len(NO_ANSWERS)) & (rows == rows[:, :1]).all(axis=1)
    return np.where(is_code, codes, 0).astype(np.int64)


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
