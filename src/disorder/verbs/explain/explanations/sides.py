"""Does it matter which text of a pair is perturbed, both or one? UNLI's Figure 9."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from disorder.errors import NothingToMeasure
from disorder.metrics import mean, share
from disorder.registry import explanation
from disorder.report.exhibits import Figure, Row
from disorder.transformations import parse
from disorder.types import Outcomes, Score
from disorder.verbs.explain.chart_style import colours, domain, intervals, name, number
from disorder.verbs.explain.result import Explained, bounds, said
from disorder.verbs.explain.subject import Subject

SIDES = {"both": "both texts", "b": "second text only", "a": "first text only"}
SCORES = ("Ω_max", "mean acceptance")


@explanation(asks="Both texts, or one?", paper="UNLI Fig. 9")
def sides(subject: Subject) -> Explained:
    """Compare breaking both texts of a pair with breaking either alone, on the examples that allow
    all three.
    """
    if not subject.is_pairs:
        raise NothingToMeasure("the texts come alone, not in pairs")
    if any(step.part.scope == "pair" for step in parse(subject.transformation).steps):
        raise NothingToMeasure(f"{subject.transformation} always takes both texts")
    parts = {side: subject.perturbed(_on(subject.transformation, side)) for side in SIDES}
    names = sorted(
        set.intersection(*(set(part.outcomes.example.tolist()) for part in parts.values()))
    )
    if not names:
        raise NothingToMeasure("no example can be perturbed on both sides")
    scores, rows = dict[str, Score](), list[Row]()
    for side, part in parts.items():
        for title, score in _scores(
            part.outcomes.take(np.isin(part.outcomes.example, names))
        ).items():
            scores[f"{title}, {SIDES[side]}"] = score
            rows.append({"perturbed": SIDES[side], "score": title, **bounds(score)})
    caption = (
        f"Share of examples with a permutation that gets the gold label (Ω_max), and share of all permutations that do, when "
        f"{subject.transformation} breaks both texts or one; 95 % intervals over the same {len(names):,} examples."
    )
    x = name("perturbed", list(SIDES.values())) | {"scale": {"paddingInner": 0.4}}
    offset = {"xOffset": {"field": "score", "type": "nominal", "sort": list(SCORES)}}
    layers = intervals(
        x, number("value", "share", domain(0, 1)), colours("score", SCORES, marks="point") | offset
    )
    finding = "; ".join(
        f"{SIDES[side]}: Ω_max {said(scores[f'Ω_max, {SIDES[side]}'])}, "
        f"mean acceptance {said(scores[f'mean acceptance, {SIDES[side]}'])}"
        for side in SIDES
    )
    left = {
        f"not all of both, first, second can be perturbed ({subject.transformation})": len(
            subject.examples
        )
        - len(names)
    }
    skips = {reason: count for reason, count in left.items() if count}
    return Explained(
        finding, [Figure("sides", caption, rows, {"layer": layers})], scores=scores, skips=skips
    )


def _on(spec: str, side: str) -> str:
    """The transformation, breaking that side."""
    chosen = parse(spec)
    return replace(chosen, steps=tuple(replace(step, side=side) for step in chosen.steps)).spec


def _scores(outcomes: Outcomes) -> dict[str, Score]:
    return {"Ω_max": share(outcomes.n_accepted > 0), "mean acceptance": mean(outcomes.acceptance)}
