"""Does a model that rates similarity rate shuffled texts as it rates real ones? Out of Order (Pham
et al., 2021), Figure 2.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from disorder.errors import BadSetting, NothingToMeasure
from disorder.metrics import average, measure, ratio
from disorder.registry import explanation
from disorder.report.exhibits import Figure, Row
from disorder.types import Floats, Outcomes, Score
from disorder.verbs.explain.chart_style import colours, intervals, name, number
from disorder.verbs.explain.result import Explained, bounds, said, signed
from disorder.verbs.explain.subject import Subject

TEXTS = ("real", "shuffled")


@explanation(
    asks="Does a shuffled text look as similar as a real one?", paper="OOO Fig. 2", on="numbers"
)
def similarity(subject: Subject, *, n: int = 1, ranges: int = 6) -> Explained:
    """Compare the histograms of predicted numbers on real pairs and on pairs with runs of `n` words
    shuffled.

    The `ranges` divide the span of the gold numbers; predictions beyond it fall into the outer
    ones.
    """
    if ranges < 1:
        raise BadSetting("similarity", ranges=ranges, need="1 or more")
    perturbed = subject.perturbed(f"shuffle_ngrams:n={n}")
    outcomes = perturbed.outcomes
    edges = np.linspace(subject.gold.min(), subject.gold.max(), ranges + 1)
    if edges[0] == edges[-1]:
        raise NothingToMeasure("all gold numbers are equal")
    held = {"real": outcomes.original[:, None, 0], "shuffled": outcomes.predictions[:, :, 0]}
    rows = [row for texts in TEXTS for row in _histogram(texts, held[texts], edges)]
    change = _change(outcomes.original[:, 0], outcomes.predictions[:, :, 0])
    whole, after = (measure("spearman", each) for each in (_whole(outcomes), outcomes))
    caption = f"Share of predictions in each range, for real texts and for {outcomes.transformation}; 95 % intervals over examples."
    finding = (
        f"predictions change by {signed(change)} on average when words are shuffled; rank correlation with gold "
        f"{said(whole)} on real texts, {said(after)} on shuffled ones"
    )
    order = list(dict.fromkeys(row["range"] for row in rows))
    x = name("range", order, "predicted number") | {"scale": {"paddingInner": 0.3}}
    offset = {"xOffset": {"field": "texts", "type": "nominal", "sort": list(TEXTS)}}
    y, colour = number("value", "share of predictions"), colours("texts", TEXTS, marks="point")
    bars = {
        "mark": {"type": "bar", "opacity": 0.45},
        "encoding": {"x": x, "y": y, "color": colour["color"]} | offset,
    }
    figure = Figure(
        "similarity", caption, rows, {"layer": [bars, *intervals(x, y, colour | offset)]}
    )
    scores = {"change": change, "spearman_real": whole, "spearman_shuffled": after}
    return Explained(finding, [figure], scores=scores, skips=perturbed.skips)


def _whole(outcomes: Outcomes) -> Outcomes:
    return replace(outcomes, predictions=outcomes.original[:, None, :])


def _histogram(texts: str, values: Floats, edges: Floats) -> list[Row]:
    places = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)
    there = ~np.isnan(values)
    counts = there.sum(axis=1).astype(float)
    found = []
    for i in range(len(edges) - 1):
        score = ratio(((places == i) & there).sum(axis=1).astype(float), counts)
        title = f"{edges[i]:.2g}–{edges[i + 1]:.2g}"
        found.append(
            {
                "texts": texts,
                "range": title,
                "from": float(edges[i]),
                "to": float(edges[i + 1]),
                **bounds(score),
            }
        )
    return found


def _change(before: Floats, after: Floats) -> Score:
    """The mean change of an example."""
    return average(np.nanmean(after, axis=1) - before)
