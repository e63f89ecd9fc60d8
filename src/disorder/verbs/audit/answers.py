"""Answers: which label the model gives to which gold label, before and after, for the report."""

from __future__ import annotations

from typing import Any

import numpy as np

from disorder.abstention import ABSTAINED
from disorder.types import Floats, Outcomes

DIGITS = 3
MOST_LABELS = 30  # whose confusion matrix is kept; with more only how often each is given


def answers(outcomes: Outcomes) -> dict[str, Any]:
    """Answers by gold label (rows) before and after a transformation, counted in examples.

    After it the variants of an example share its one vote. A model that abstains has one more
    column.
    """
    labels = list(outcomes.task.labels)
    before = _table(outcomes, outcomes.original_label[:, None], np.ones(len(outcomes)))
    after = _table(outcomes, outcomes.label, outcomes.n_variants)
    abstains = before[:, -1].any() or after[:, -1].any()
    columns = [*labels, ABSTAINED] if abstains else labels
    before, after = before[:, : len(columns)], after[:, : len(columns)]
    found: dict[str, Any] = {
        "labels": labels,
        "answers": columns,
        "gold": np.bincount(outcomes.gold, minlength=len(labels)).tolist(),
        "before": _rounded(before.sum(axis=0)),
        "after": _rounded(after.sum(axis=0)),
    }
    if len(labels) <= MOST_LABELS:
        found["confusion"] = {
            "before": [_rounded(row) for row in before],
            "after": [_rounded(row) for row in after],
        }
    return found


def _table(outcomes: Outcomes, given: Any, n_variants: Any) -> Floats:
    """Examples by gold label and answer; the last column counts abstentions."""
    m = len(outcomes.task.labels)
    shares = np.stack([(given == label).sum(axis=1) for label in range(m)], axis=1)
    shares = shares / np.asarray(n_variants)[:, None]
    every = np.concatenate([shares, 1 - shares.sum(axis=1, keepdims=True)], axis=1)
    table = np.zeros((m, m + 1))
    np.add.at(table, outcomes.gold, np.where(every > 1e-9, every, 0.0))
    return table


def _rounded(row: Floats) -> list[float]:
    return [round(float(x), DIGITS) + 0.0 for x in row]
