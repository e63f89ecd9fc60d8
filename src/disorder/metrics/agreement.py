"""Agreement: how often a perturbed text gets the prediction that the original got.

After BERT & Family Eat Word Salad (Gupta et al., 2021).
"""

from __future__ import annotations

import numpy as np

from disorder.errors import NothingToMeasure
from disorder.metrics.statistics.decomposition import Mean
from disorder.registry import metric
from disorder.types import Bools, Floats, Ints, Outcomes


@metric(
    meaning="share of perturbed texts whose prediction is that of the original text (for copies: "
    "the task's default label)",
    better="near chance",
    paper="WS",
    position=20,
    copies="by default label",
    alone="a model with one constant answer has 1, and one that falls back to a frequent label "
    "as much as that label is frequent",
)
def agreement(outcomes: Outcomes) -> Mean:
    """Share of perturbed texts whose prediction is unchanged; for copies, the share given the
    task's default label; in natural audits it is about the originals that were answered.
    """
    answered = has_prediction(outcomes)
    return Mean.over(unchanged(outcomes), answered, otherwise="no original text was answered")


def has_prediction(outcomes: Outcomes) -> Bools:
    """Which originals have a prediction that another one can agree with: an abstention has none."""
    if outcomes.is_copy or outcomes.fidelity != "natural":
        return np.ones(len(outcomes), dtype=bool)
    return np.asarray(outcomes.original_label >= 0)


def unchanged(outcomes: Outcomes) -> Floats:
    """Share of each example's variants with the expected prediction."""
    is_same = (outcomes.label == _expected(outcomes)) & outcomes.is_predicted
    return np.asarray(is_same.sum(axis=1) / outcomes.n_variants)


def _expected(outcomes: Outcomes) -> Ints | int:
    if not outcomes.is_copy:
        return outcomes.original_label[:, None]
    if outcomes.task.default_label is None:
        raise NothingToMeasure("the task has no default label for copies")
    return outcomes.task.labels.index(outcomes.task.default_label)
