"""What a model gave back: probabilities that are checked, as columns of the task's labels, with the
temperature and the threshold of calibration.json in its folder.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disorder.errors import BadData, BadModel, ModelStopped, option
from disorder.safe_io import one_line, read_json, validated
from disorder.store.storage import write_atomically
from disorder.types import Bools, Floats, Task
from disorder.types.predictions import ABSTAINED, ABSTAINS, ANSWERED, FAILED, Predictions


def softmax(logits: Floats) -> Floats:
    """Probabilities from logits, row by row."""
    shifted = np.exp(logits.astype(np.float64) - logits.max(axis=1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=1, keepdims=True))


def sigmoid_columns(found: Floats, *, is_share: bool) -> Floats:
    """Probabilities of two labels from one number per text: that of the second, or its logit."""
    share = found if is_share else 1 / (1 + np.exp(-found.clip(-500, 500)))
    return np.concatenate([1 - share, share], axis=1)


def checked(name: str, predictions: Any, n: int, labels: Sequence[str]) -> Predictions:
    """The predictions as an n × labels array of probabilities with their outcomes, or an error that
    says what is wrong with them. An array without outcomes is of a model that always answers, but
    for rows that are not finite, unless all are.
    """
    if not isinstance(predictions, Predictions):
        array = _shaped(name, predictions, n, labels).copy()
        is_finite = np.isfinite(array).all(axis=1)
        _check_values(name, array[is_finite] if is_finite.any() else array, labels)
        array[~is_finite] = np.nan
        return Predictions(array, np.where(is_finite, ANSWERED, NOT_FINITE).astype(object))
    array = _shaped(name, predictions.values, n, labels).copy()
    found = Predictions(array, _outcomes(name, predictions.outcomes, n))
    array[found.is_failed] = np.nan
    array[found.outcomes == ABSTAINS] = 0.0 if labels else np.nan
    _check_values(name, array[found.outcomes == ANSWERED], labels)
    return found


def _check_values(name: str, answered: Floats, labels: Sequence[str]) -> None:
    if not np.isfinite(answered).all():
        raise BadModel(f"{name}: predictions hold NaN or infinity")
    if labels and not are_shares(answered).all():
        raise BadModel(
            f"{name}: rows must be probabilities that sum to 1; apply a softmax to logits"
        )


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
    columns = _by_name(labels)
    array = np.zeros((len(predictions), len(labels)))
    for row, prediction in enumerate(predictions):
        scores = _scores(name, prediction)
        if len(scores) == 1 < len(labels) and sum(scores.values()) < 1 - 1e-3:
            raise BadModel(
                f"{name}: gave the score of its top label only; need the scores of all (top_k=None)"
            )
        for label, score in scores.items():
            known = label if label in columns else _plain(label)
            if known not in columns:
                raise BadModel(
                    f"{name}: predicted {label!r}, which is none of {', '.join(labels)}"
                    f"{hint(label)}"
                )
            array[row, columns[known]] = score
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


def label_columns(
    name: str, given: Sequence[str], task: Task, renamed: Mapping[str, str]
) -> Floats | None:
    """The matrix that turns the model's columns into the task's; None for regression."""
    if task.is_regression:
        if len(given) > 1:
            raise BadModel(
                f"{name} gives {len(given)} labels, but the task {task.name} asks for one number"
            )
        return None
    for label in renamed:
        if label not in given:
            raise BadModel(
                f"{option('labels')} names {label!r}, which is no label of {name}; "
                f"it has {', '.join(given) or 'none'}"
            )
    wanted = _by_name(task.labels)
    matrix = np.zeros((len(given), len(task.labels)))
    for row, label in enumerate(given):
        target = renamed.get(label, label)
        target = target if target in wanted else _plain(target)
        if target == ABSTAINED and target not in wanted:
            # no column: what a row lacks to 1 is the probability of abstaining (`predicted_label`)
            continue
        if target not in wanted:
            raise BadModel(_mismatch(name, given, task))
        matrix[row, wanted[target]] = 1
    missing = [
        label for label, total in zip(task.labels, matrix.sum(axis=0), strict=True) if not total
    ]
    if missing:
        raise BadModel(f"{name} never predicts {missing[0]!r}; it has {', '.join(given)}")
    return matrix


def _by_name(labels: Sequence[str]) -> dict[str, int]:
    """The number of each label by its name, and by its plain name where that is clear: `Yes` and
    `yes` are two labels, if the data has both.
    """
    small = [_plain(label) for label in labels]
    clear = {name: i for i, name in enumerate(small) if small.count(name) == 1}
    return clear | {label: i for i, label in enumerate(labels)}


def _plain(label: str) -> str:
    """A label in small letters; a whole number without what a table with gaps adds to it.

    >>> _plain("Yes"), _plain("1.0")
    ('yes', '1')
    """
    return re.sub(r"^(-?\d+)\.0+$", r"\1", label.lower())


def _mismatch(name: str, given: Sequence[str], task: Task) -> str:
    both = f"{name} predicts {', '.join(given)}; the data's labels are {', '.join(task.labels)}"
    if len(given) != len(task.labels):
        hint = f"If labels belong together, say so with {option('labels')}"
        return f"{both}. Is it the right model for this data? {hint}"
    example = ",".join(f"{mine}={theirs}" for mine, theirs in zip(given, task.labels, strict=True))
    return f"{both}. Say which is which, for instance {option('labels', example)}"


FILE = "calibration.json"
TINY = 1e-300  # a probability of 0 has no logarithm


@dataclass(frozen=True)
class Calibration:
    """By what logits are divided, and the top probability below which a text is taken to be
    invalid.
    """

    temperature: float = 1.0
    threshold: float | None = None

    def __call__(self, probabilities: Floats) -> Floats:
        """The softmax of logits / temperature, from the softmax of the logits.

        >>> Calibration(2.0)(np.array([[0.8, 0.2]])).round(3).tolist()
        [[0.667, 0.333]]
        """
        scaled = np.log(np.maximum(probabilities, TINY)) / self.temperature
        raised = np.exp(scaled - scaled.max(axis=1, keepdims=True))
        return np.asarray(raised / raised.sum(axis=1, keepdims=True))

    def abstains_on(self, probabilities: Floats) -> Bools:
        """Which rows of label probabilities lie below the threshold.

        >>> Calibration(threshold=0.7).abstains_on(np.array([[0.8, 0.2], [0.4, 0.6]])).tolist()
        [False, True]
        """
        return np.asarray(probabilities.max(axis=1) < (self.threshold or 0.0))

    def write(self, folder: Path) -> None:
        """Write calibration.json."""
        write_atomically(folder / FILE, (json.dumps(asdict(self)) + "\n").encode())


def calibration_of(spec: str) -> Calibration | None:
    """What the folder that a model spec names says of itself, if anything."""
    path = Path(spec.partition(":")[2]).expanduser() / FILE
    if ":" not in spec or not path.is_file():
        return None
    try:
        raw = read_json(path)
        unknown = set(raw) - {"temperature", "threshold"} if isinstance(raw, dict) else ()
        if unknown:
            raise BadData(f"{path} is damaged: {one_line(min(unknown))!r} means nothing there")
        found: Calibration = validated(Calibration, raw, str(path))
    except BadData as error:
        raise BadModel(str(error)) from None
    if found.temperature <= 0 or not (found.threshold is None or 0 <= found.threshold <= 1):
        raise BadModel(f"{path}: need a temperature above 0 and a threshold from 0 to 1")
    return found


NOT_FINITE = f"{FAILED}its numbers are not finite"  # an outcome
UNREAD = "the reply cannot be read"
IS_UNREAD = FAILED + UNREAD  # the outcome
MOST = 10  # texts up to which nothing is concluded
MOST_SHARE = 0.05  # of all texts


@dataclass
class UnreadReplies:
    """How many there were among the predictions of a model so far."""

    n: int = 0
    n_texts: int = 0

    def count(self, model: str, outcomes: Sequence[str]) -> None:
        """Add some predictions; raises once too many replies cannot be read."""
        found = sum(outcome == IS_UNREAD for outcome in outcomes)
        self.n_texts += len(outcomes)
        self.n += found
        if found and self.n > max(MOST, MOST_SHARE * self.n_texts):
            raise ModelStopped(
                f"{model}: {self.n:,} of {self.n_texts:,} replies cannot be read: too many to "
                "leave out; if the server cannot be put right, start a new run with other "
                f"{option('answers')}"
            )
