"""Does accuracy hang on how many words the texts share? By share of overlap, and for every perturbed
test set as a whole.

NLI Data Sanity Check (Talman et al., 2021), Figure 2; after Zhou and Bansal (2020).
"""

from __future__ import annotations

import numpy as np

from disorder.errors import NothingToMeasure
from disorder.report.exhibits import Figure, Row
from disorder.types import Bools, Floats, Ints, Score
from disorder.verbs.sanity.checks.order import short
from disorder.verbs.sanity.features import share_overlap
from disorder.verbs.sanity.pictures import curve, number, scatter
from disorder.verbs.sanity.result import Checked, Verdict, bounds, said
from disorder.verbs.sanity.scoring import clustered_share, combined
from disorder.verbs.sanity.trials import Bench

ASKS = "Does accuracy hang on how many words the texts share?"
PAPER = "NDSC Fig. 2"
BINS, FEWEST = 10, 10


def overlap(bench: Bench) -> Checked:
    """The model's accuracy by the share of text_b's words that text_a has."""
    if bench.task.is_regression:
        raise NothingToMeasure("labels are numbers: there is no accuracy to set beside overlap")
    asked = bench.rows.asked
    shared = np.array([share_overlap(*bench.texts[i]) for i in asked.tolist()])
    right = bench.right(bench.whole, asked)
    low, high = np.quantile(shared, (1 / 3, 2 / 3))
    few, many = shared <= low, shared >= high
    if low == high or not few.any() or not many.any():
        raise NothingToMeasure("the texts of all rows share the same part of their words")
    clusters = bench.rows.cluster[asked]
    first, last = (
        clustered_share(right[few], clusters[few]),
        clustered_share(right[many], clusters[many]),
    )
    gap = apart(right, few, many, clusters)
    answer = (
        "differs"
        if gap.low > bench.rule.margin or gap.high < -bench.rule.margin
        else (
            "does not differ"
            if max(abs(gap.low), abs(gap.high)) < bench.rule.margin
            else "undecided"
        )
    )
    because = f"Of the third of rows that share least {said(first)} are answered right, of those that share most {said(last)}"
    verdict = Verdict("accuracy by overlap", answer, because, gap)
    return Checked([verdict], [], [_by_bin(shared, right, clusters, bench), _by_set(bench)])


def apart(right: Bools, few: Bools, many: Bools, clusters: Ints) -> Score:
    """How much larger the share answered right is among `many` than among `few`, which are
    different rows.
    """
    chosen = few | many
    value, half = combined(
        right[chosen].astype(float),
        many[chosen].astype(np.int64),
        {0: -1.0, 1: 1.0},
        (0.0, 1.0),
        clusters[chosen],
    )
    return Score(value, max(-1.0, value - half), min(1.0, value + half), int(chosen.sum()))


def _by_bin(shared: Floats, right: Bools, clusters: Ints, bench: Bench) -> Figure:
    places = np.minimum((shared * BINS).astype(int), BINS - 1)
    rows: list[Row] = []
    for place in range(BINS):
        inside = places == place
        if inside.sum() >= FEWEST:
            ends = {"from": place / BINS, "to": (place + 1) / BINS, "middle": (place + 0.5) / BINS}
            rows.append(ends | bounds(clustered_share(right[inside], clusters[inside])))
    x = number("middle", "share of text_b's words that text_a has", domain=[0, 1], nice=False)
    y = number("value", "answered right", domain=[0, 1])
    caption = (
        "Share of rows answered right, by the share of the words of text_b that text_a has; 95 % intervals, bins of "
        f"{FEWEST} rows or more. Dotted: chance."
    )
    return Figure(
        "overlap_accuracy", caption, rows, curve(x, y, line=bench.chance(bench.rows.asked))
    )


def _by_set(bench: Bench) -> Figure:
    """Whole and perturbed test sets: mean overlap and score of the model of original texts."""
    asked = bench.rows.asked
    whole = float(np.mean([share_overlap(*bench.texts[i]) for i in asked.tolist()]))
    rows: list[Row] = [
        {"name": "original texts", "overlap": round(whole, 4)}
        | bounds(bench.score(bench.whole, asked))
    ]
    for probe in bench.done:
        if probe.overlap is not None and not probe.spec.startswith("drop_text"):
            score = bench.score(probe.answers["corrupt-test"], asked)
            rows.append(
                {"name": short(probe.spec), "overlap": round(probe.overlap, 4)} | bounds(score)
            )
    x = number("overlap", "mean share of text_b's words that text_a has")
    y = number("value", bench.metric.replace("_", " "))
    caption = "The model of original texts, asked whole and perturbed test sets, by how many words their texts share; 95 % intervals."
    return Figure("overlap_sets", caption, rows, scatter(x, y))
