"""From a model's labels to those of the data: which column means which label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from disorder.errors import BadModel, option
from disorder.types import Floats, Task
from disorder.types.predictions import ABSTAINED


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
        target = target if target in wanted else target.lower()
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
    """The number of each label by its name, and by its name in small letters where that is clear:
    `Yes` and `yes` are two labels, if the data has both.
    """
    small = [label.lower() for label in labels]
    clear = {name: i for i, name in enumerate(small) if small.count(name) == 1}
    return clear | {label: i for i, label in enumerate(labels)}


def _mismatch(name: str, given: Sequence[str], task: Task) -> str:
    both = f"{name} predicts {', '.join(given)}; the data's labels are {', '.join(task.labels)}"
    if len(given) != len(task.labels):
        hint = f"If labels belong together, say so with {option('labels')}"
        return f"{both}. Is it the right model for this data? {hint}"
    example = ",".join(f"{mine}={theirs}" for mine, theirs in zip(given, task.labels, strict=True))
    return f"{both}. Say which is which, for instance {option('labels', example)}"
