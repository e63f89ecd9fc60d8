"""Sides: does it matter whether both texts of a pair are perturbed, or one? UNLI Figure 9."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from disorder.errors import NothingToMeasure
from disorder.metrics import mean, share
from disorder.registry import explanation
from disorder.results.result import Figure, Row
from disorder.transformations import parse
from disorder.types import Score
from disorder.verbs.explain.chart_style import colours, domain, intervals, name, number, offset
from disorder.verbs.explain.result import Explained, bounds, said
from disorder.verbs.explain.subject import Subject

SIDES = {"both": "both texts", "b": "second text only", "a": "first text only"}
SCORES = ("Ω_max", "mean acceptance")


@explanation(
    asks="Does it matter whether both texts are perturbed, or one?",
    paper="UNLI Fig. 9",
    calls=lambda subject: {
        "texts of three kinds": len(SIDES) * subject.settings.n_variants * len(subject.examples)
    },
)
def sides(subject: Subject) -> Explained:
    """Compare perturbing both texts of a pair with perturbing either alone, on the examples that
    allow all three.
    """
    if not subject.is_pairs:
        raise NothingToMeasure("the texts come alone, not in pairs")
    chosen = parse(subject.transformation)
    if any(step.part.scope == "pair" for step in chosen.steps):
        raise NothingToMeasure(f"{subject.transformation} always takes both texts")
    parts = {}
    for side in SIDES:
        steps = tuple(replace(step, side=side) for step in chosen.steps)
        parts[side] = subject.perturbed(replace(chosen, steps=steps).spec)
    examples = [set(part.outcomes.example.tolist()) for part in parts.values()]
    names = sorted(set.intersection(*examples))
    if not names:
        raise NothingToMeasure("no example can be perturbed on both sides")
    scores: dict[str, Score] = {}
    rows: list[Row] = []
    for side, part in parts.items():
        kept = part.outcomes.take(np.isin(part.outcomes.example, names))
        found = (share(kept.n_accepted > 0), mean(kept.acceptance))
        for title, score in zip(SCORES, found, strict=True):
            scores[f"{title}, {SIDES[side]}"] = score
            rows.append({"perturbed": SIDES[side], "score": title, **bounds(score)})
    caption = (
        "Share of examples with a permutation that gets the gold label (Ω_max), and share of all "
        f"permutations that do, when {subject.transformation} perturbs both texts or one; 95 % "
        f"intervals over the same {len(names):,} examples."
    )
    x = name("perturbed", list(SIDES.values())) | {"scale": {"paddingInner": 0.4}}
    y = number("value", "share", domain(0, 1))
    layers = intervals(x, y, colours("score", SCORES, marks="point") | offset("score", SCORES))
    finding = "; ".join(
        f"{SIDES[side]}: Ω_max {said(scores[f'Ω_max, {SIDES[side]}'])}, "
        f"mean acceptance {said(scores[f'mean acceptance, {SIDES[side]}'])}"
        for side in SIDES
    )
    skips = {}
    if len(names) < len(subject.examples):
        reason = f"not all of both, first, second can be perturbed ({subject.transformation})"
        skips[reason] = len(subject.examples) - len(names)
    return Explained(
        finding, [Figure("sides", caption, rows, {"layer": layers})], scores=scores, skips=skips
    )
