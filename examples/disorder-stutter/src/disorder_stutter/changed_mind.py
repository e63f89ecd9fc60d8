"""An explanation: how many labels do the perturbed texts of one example get?"""

from __future__ import annotations

import numpy as np

from disorder.metrics import mean
from disorder.registry import explanation
from disorder.types import Floats, Outcomes
from disorder.verbs.explain import Explained, Figure, Subject, bounds, said
from disorder.verbs.explain.chart_style import domain, intervals, name, number


@explanation(asks="How many labels does one example get?")
def changed_mind(subject: Subject) -> Explained:
    """Count the labels that the perturbed texts of an example get."""
    perturbed = subject.perturbed()
    score = mean(_n_labels(perturbed.outcomes))
    finding = f"the perturbed texts of one example get {said(score)} labels"
    most = len(perturbed.outcomes.task.labels)
    layers = intervals(name("texts", ["perturbed"]), number("value", "labels", domain(1, most)))
    rows = [{"texts": "perturbed", **bounds(score)}]
    figure = Figure("changed_mind", "Labels per example.", rows, {"layer": layers})
    return Explained(finding, [figure], scores={"labels per example": score}, skips=perturbed.skips)


def _n_labels(outcomes: Outcomes) -> Floats:
    """Labels that each example's predictions have between them."""
    return np.array([len(np.unique(labels)) for labels in outcomes.label], dtype=np.float64)
