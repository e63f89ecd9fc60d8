"""Entropy of accepted permutations, in nats: how undecided is the model about them? UNLI Figure 2.

A model that notices nonsense is near the dashed line, where all labels are equally likely; one that
does not is near 0.
"""

from __future__ import annotations

from math import log

import numpy as np

from disorder.errors import NothingToMeasure
from disorder.metrics import measure
from disorder.metrics.acceptance import accepted_entropy, flipped, right_first
from disorder.registry import explanation
from disorder.results.result import Figure, Row
from disorder.verbs.explain.chart_style import BLUE, LIGHT, domain, name, number, reference
from disorder.verbs.explain.result import Explained, bounds, said
from disorder.verbs.explain.subject import Subject

GROUPS = {"entropy_c": "first predicted right (D_c)", "entropy_f": "flipped to right (D_f)"}
QUANTILES = {"lowest": 0.05, "first": 0.25, "middle": 0.5, "third": 0.75, "highest": 0.95}


@explanation(asks="How undecided is it about nonsense that it predicts right?", paper="UNLI Fig. 2")
def entropy(subject: Subject) -> Explained:
    """Draw the entropy of accepted permutations as boxes, for examples first predicted right and
    those flipped to right.
    """
    perturbed = subject.perturbed()
    outcomes = perturbed.outcomes
    values = accepted_entropy(outcomes)
    masks = {"entropy_c": right_first(outcomes), "entropy_f": flipped(outcomes)}
    held = {metric: values[mask & ~np.isnan(values)] for metric, mask in masks.items()}
    scores = {metric: measure(metric, outcomes) for metric, found in held.items() if len(found)}
    if not scores:
        raise NothingToMeasure("no permutation was accepted")
    rows: list[Row] = [
        {
            "examples": GROUPS[metric],
            **{k: round(float(np.quantile(held[metric], q)), 6) for k, q in QUANTILES.items()},
            **bounds(score),
        }
        for metric, score in scores.items()
    ]
    most = log(len(subject.task.labels))
    finding = "; ".join(
        f"{GROUPS[metric]}: mean entropy {said(score)}" for metric, score in scores.items()
    )
    caption = (
        f"Entropy in nats over accepted permutations ({outcomes.transformation}), one value per "
        "example: box from first to third quartile, whiskers from 5 to 95 %, ring at the mean. The "
        "dashed line is the entropy of equally likely labels."
    )
    figure = Figure("entropy", caption, rows, {"layer": _layers(most), "height": {"step": 56}})
    return Explained(
        f"{finding} (equally likely labels: {most:.3f})",
        [figure],
        scores=scores,
        skips=perturbed.skips,
    )


def _layers(most: float) -> list[dict[str, object]]:
    y = name("examples", list(GROUPS.values()))
    x = number("lowest", "entropy in nats", domain(0, round(most * 1.05, 3)))
    box = {"y": y, "x": x | {"field": "first"}, "x2": {"field": "third"}}
    middle = {"y": y, "x": x | {"field": "middle"}}
    mean = {"y": y, "x": x | {"field": "value"}}
    return [
        {
            "mark": {"type": "rule", "color": BLUE},
            "encoding": {"y": y, "x": x, "x2": {"field": "highest"}},
        },
        {"mark": {"type": "bar", "size": 22, "color": LIGHT, "stroke": BLUE}, "encoding": box},
        {"mark": {"type": "tick", "size": 22, "thickness": 3, "color": BLUE}, "encoding": middle},
        {
            "mark": {"type": "point", "size": 50, "color": "black", "fill": "white"},
            "encoding": mean,
        },
        *reference("x", most, "equally likely labels"),
    ]
