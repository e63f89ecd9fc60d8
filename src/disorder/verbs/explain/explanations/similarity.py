"""Similarity: does a model rate pairs of shuffled texts as it rates original ones?

Out of Order (Pham et al., 2021), Figure 2, for regression.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from disorder.errors import BadSetting, NothingToMeasure
from disorder.metrics import average, measure, ratio
from disorder.registry import explanation
from disorder.results.result import Figure, Row
from disorder.types import Floats
from disorder.verbs.explain.chart_style import colours, intervals, name, number, offset
from disorder.verbs.explain.result import Explained, bounds, said, signed
from disorder.verbs.explain.subject import Subject

TEXTS = ("original", "shuffled")


@explanation(
    asks="Does a shuffled text look as similar as the original one?",
    paper="OOO Fig. 2",
    on="numbers",
    calls=lambda subject, n, **_: subject.perturbed_calls(f"shuffle_ngrams:n={n}"),
)
def similarity(subject: Subject, *, n: int = 1, ranges: int = 6, dev_r: bool = False) -> Explained:
    """Compare the histograms of predicted numbers on original pairs and on pairs with runs of `n`
    words shuffled.

    The `ranges` divide the span of the gold numbers; predictions beyond it fall into the outer
    ones. `dev_r` keeps the pairs of which one sentence of more than three words is shuffled.
    """
    if ranges < 1:
        raise BadSetting("similarity", ranges=ranges, need="1 or more")
    perturbed = subject.perturbed(f"shuffle_ngrams:n={n}", dev_r=dev_r)
    outcomes = perturbed.outcomes
    edges = np.linspace(subject.gold.min(), subject.gold.max(), ranges + 1)
    if edges[0] == edges[-1]:
        raise NothingToMeasure("all gold numbers are equal")
    held = {"original": outcomes.original[:, None, 0], "shuffled": outcomes.predictions[:, :, 0]}
    rows = [row for texts in TEXTS for row in _histogram(texts, held[texts], edges)]
    change = average(np.nanmean(outcomes.predictions[:, :, 0], axis=1) - outcomes.original[:, 0])
    before = measure("spearman", replace(outcomes, predictions=outcomes.original[:, None, :]))
    after = measure("spearman", outcomes)
    caption = (
        "Share of predictions in each range, for original texts and for "
        f"{outcomes.transformation}; 95 % intervals over examples."
    )
    finding = (
        f"predictions change by {signed(change)} on average when words are shuffled; rank "
        f"correlation with gold {said(before)} on original texts, {said(after)} on shuffled ones"
    )
    order = list(dict.fromkeys(row["range"] for row in rows))
    x = name("range", order, "predicted number") | {"scale": {"paddingInner": 0.3}}
    y = number("value", "share of predictions")
    colour = colours("texts", TEXTS, marks="point")
    beside = offset("texts", TEXTS)
    bars = {
        "mark": {"type": "bar", "opacity": 0.45},
        "encoding": {"x": x, "y": y, "color": colour["color"]} | beside,
    }
    layers = [bars, *intervals(x, y, colour | beside)]
    figure = Figure("similarity", caption, rows, {"layer": layers})
    scores = {"change": change, "spearman_original": before, "spearman_shuffled": after}
    return Explained(finding, [figure], scores=scores, skips=perturbed.skips)


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
