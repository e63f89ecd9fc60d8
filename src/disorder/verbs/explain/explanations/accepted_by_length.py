"""Acceptance by length: are short texts accepted more often when words move? UNLI Figure 6.

Short texts have fewer orders, and each order leaves more of the text in place. Whether a model
*reads* length is another question, which the ladder answers.
"""

from __future__ import annotations

import numpy as np

from disorder.errors import BadSetting, NothingToMeasure
from disorder.metrics import mean
from disorder.registry import explanation
from disorder.results.result import Figure, Row
from disorder.types import Bools, Ints, Score
from disorder.verbs.explain.acceptance_bins import FEWEST
from disorder.verbs.explain.chart_style import colours, domain, intervals, joined, number, ruled
from disorder.verbs.explain.result import Explained, bounds, said
from disorder.verbs.explain.subject import PerturbedExamples, Subject

GROUPS = ("first predicted right", "first predicted wrong")


@explanation(
    asks="Are perturbed short texts accepted more often than long ones?", paper="UNLI Fig. 6"
)
def accepted_by_length(subject: Subject, *, bins: int = 5) -> Explained:
    """Show acceptance by the number of words in the perturbed texts, apart for examples first
    predicted right and wrong.

    Bins hold about equally many examples; one with fewer than five of a group is not shown.
    """
    if bins < 1:
        raise BadSetting("accepted_by_length", bins=bins, need="1 or more")
    perturbed = subject.perturbed()
    outcomes = perturbed.outcomes
    words = n_perturbed_words(perturbed)
    edges = np.unique(
        np.quantile(words, np.linspace(0, 1, bins + 1), method="nearest").astype(np.int64)
    )
    edges = np.append(edges[:-1] if len(edges) > 1 else edges, words.max() + 1)
    right, wrong = GROUPS
    found = [
        *_points(perturbed, words, edges, outcomes.is_right, right),
        *_points(perturbed, words, edges, ~outcomes.is_right, wrong),
    ]
    if not found:
        raise NothingToMeasure("no range of lengths holds five examples; more are needed")
    rows = [row for row, _ in found]
    x = number(
        "middle",
        "words in the perturbed texts (middle of the bin)",
        {"scale": {"zero": False}, "axis": {"format": "d", "tickMinStep": 1}},
    )
    y = number("value", "share that gets the gold label", domain(0, 1))
    layers = [
        joined(x, y, colours("original text", GROUPS, marks="line")),
        *intervals(x, y, colours("original text", GROUPS, marks="point")),
        *ruled("y", subject.task.chance),
    ]
    caption = (
        f"Share of permutations ({outcomes.transformation}) that get the gold label, by number of "
        "words; 95 % intervals over examples; the dotted line is chance."
    )
    figure = Figure("accepted_by_length", caption, rows, {"layer": layers})
    scores = {f"{row['original text']}, {_range(row)} words": score for row, score in found}
    return Explained(_finding(found), [figure], scores=scores, skips=perturbed.skips)


def n_perturbed_words(perturbed: PerturbedExamples) -> Ints:
    """How many words the perturbed texts of each example have, without punctuation."""
    moved = [
        [rows for rows in variants.sides if not rows.is_shared] or variants.sides
        for variants in perturbed.variants
    ]
    return np.array([sum(len(rows.sentence.movable) for rows in each) for each in moved])


def _points(
    perturbed: PerturbedExamples, words: Ints, edges: Ints, mask: Bools, name: str
) -> list[tuple[Row, Score]]:
    found = []
    for low, high in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        inside = mask & (words >= low) & (words < high)
        if inside.sum() >= FEWEST:
            score = mean(perturbed.outcomes.acceptance[inside])
            row: Row = {
                "original text": name,
                "from": int(low),
                "to": int(high) - 1,
                "middle": (low + high - 1) / 2,
            }
            found.append((row | bounds(score), score))
    return found


def _range(row: Row) -> str:
    """From how many words to how many."""
    return "–".join(dict.fromkeys([str(row["from"]), str(row["to"])]))


def _finding(found: list[tuple[Row, Score]]) -> str:
    parts = []
    for name in GROUPS:
        own = [(row, score) for row, score in found if row["original text"] == name]
        if own:
            first, short = own[0]
            line = f"{name}: {said(short)} at {_range(first)} words"
            if len(own) > 1:
                last, long = own[-1]
                line += f", {said(long)} at {_range(last)}"
            parts.append(line)
    return "acceptance of examples " + "; ".join(parts)
