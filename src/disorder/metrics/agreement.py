"""How often does a perturbed text get the answer that the original one got? After Word Salad (Gupta et
al., 2021).
"""

from __future__ import annotations

import numpy as np

from disorder.errors import NothingToMeasure
from disorder.metrics.statistics.intervals import mean
from disorder.registry import metric
from disorder.types import Floats, Ints, Outcomes, Score


@metric(better="near chance", paper="WS")
def agreement(outcomes: Outcomes) -> Score:
    """Share of perturbed texts whose answer is unchanged; for copies, the share given the task's
    default label.
    """
    return mean(unchanged(outcomes), skipped=outcomes.n_skipped)


def unchanged(outcomes: Outcomes) -> Floats:
    """Share of each example's variants with the expected answer."""
    return np.asarray(
        ((outcomes.label == _expected(outcomes)) & outcomes.is_predicted).sum(axis=1)
        / outcomes.n_variants
    )


def _expected(outcomes: Outcomes) -> Ints | int:
    if not outcomes.is_copy:
        return outcomes.original_label[:, None]
    if outcomes.task.default_label is None:
        raise NothingToMeasure("the task has no default label for copies")
    return outcomes.task.labels.index(outcomes.task.default_label)
