"""An explanation: how many labels do the perturbed texts of one example get?"""

from __future__ import annotations

import numpy as np

from disorder.metrics import mean
from disorder.registry import explanation
from disorder.types import Floats, Outcomes
from disorder.verbs.explain import Explained, Subject, said


@explanation(asks="How many labels does one example get?")
def changed_mind(subject: Subject) -> Explained:
    """Count the labels that the perturbed texts of an example get."""
    perturbed = subject.perturbed()
    score = mean(_n_labels(perturbed.outcomes))
    finding = f"the perturbed texts of one example get {said(score)} labels"
    return Explained(finding, [], scores={"labels per example": score}, skips=perturbed.skips)


def _n_labels(outcomes: Outcomes) -> Floats:
    """Labels that each example's predictions have between them."""
    return np.array([len(np.unique(labels)) for labels in outcomes.label], dtype=np.float64)
