"""Ω_x curve: for how many examples do more than a share x of permutations get the gold label?

UNLI Figure 8. A bag of words draws a flat line at its accuracy; a model that reads order falls at
once.
"""

from __future__ import annotations

from fractions import Fraction

from disorder.metrics import measure, share
from disorder.registry import explanation
from disorder.results.result import Figure, Row
from disorder.verbs.explain.chart_style import BAND, domain, number, reference, ruled
from disorder.verbs.explain.result import Explained, bounds, said
from disorder.verbs.explain.subject import Subject

N_POINTS = 50


@explanation(asks="How many examples survive how many permutations?", paper="UNLI Fig. 8")
def omega_curve(subject: Subject) -> Explained:
    """Draw the share of examples with more than a share x of permutations accepted (Ω_x) over x,
    beside the flat line of a bag of words of the same accuracy.
    """
    perturbed = subject.perturbed()
    outcomes = perturbed.outcomes
    shares = [Fraction(i, N_POINTS) for i in range(N_POINTS)]
    rows: list[Row] = [{"x": float(x), **bounds(measure(f"omega@{x}", outcomes))} for x in shares]
    accuracy = share(outcomes.is_right)
    scores = {f"omega@{x}": measure(f"omega@{x}", outcomes) for x in ("0", "0.5", "0.9")}
    scores["omega_all"] = share(outcomes.n_accepted == outcomes.n_variants)
    scores["accuracy"] = accuracy
    rows.append({"x": 1.0, **bounds(scores["omega_all"])})
    finding = (
        "examples with some, more than half, more than 90 % and all of their permutations "
        f"accepted: Ω_0 = {said(scores['omega@0'])}, Ω_0.5 = {said(scores['omega@0.5'])}, "
        f"Ω_0.9 = {said(scores['omega@0.9'])}, Ω_1.0 = {said(scores['omega_all'])}; accuracy on "
        f"the same {accuracy.n:,} original texts {said(accuracy)}"
    )
    x = number("x", "threshold x", domain(0, 1))
    y = number("value", "Ω_x: share of examples", domain(0, 1))
    layers = [
        {
            "mark": {"type": "area", **BAND},
            "encoding": {"x": x, "y": y | {"field": "low"}, "y2": {"field": "high"}},
        },
        {"mark": {"type": "line", "interpolate": "step-after"}, "encoding": {"x": x, "y": y}},
        *reference("y", accuracy.value, "bag of words"),
        *ruled("x", subject.task.chance),
    ]
    caption = (
        "Share of examples with more than a share x of permutations that get the gold label (at 1: "
        f"with all), Ω_x, under {outcomes.transformation} with its 95 % band. The dashed line is a "
        "bag of words of this accuracy, the dotted one marks chance."
    )
    return Explained(
        finding,
        [Figure("omega_curve", caption, rows, {"layer": layers})],
        scores=scores,
        skips=perturbed.skips,
    )
