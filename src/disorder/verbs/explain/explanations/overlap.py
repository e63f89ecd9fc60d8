"""Overlap: is a permutation accepted because pieces of the text survive in it? BLEU by acceptance.

UnNatural Language Inference (Sinha et al., 2021), Figure 3; Figure 10 clumps words to reach the
whole range of BLEU.
"""

from __future__ import annotations

import numpy as np

from disorder.errors import BadSetting, NothingToMeasure
from disorder.registry import explanation
from disorder.results.result import Figure
from disorder.types import Bools, Floats, PositionRows, Score
from disorder.verbs.explain.acceptance_bins import (
    BinnedAcceptance,
    accepted,
    by_bin,
    edges_of,
    said_ends,
    said_within,
    slope_within,
)
from disorder.verbs.explain.bleu import bleu
from disorder.verbs.explain.chart_style import colours, domain, intervals, joined, number, ruled
from disorder.verbs.explain.result import Explained
from disorder.verbs.explain.subject import PerturbedExamples, Subject

ORDERS = (2, 3, 4)
APART = 0.015  # so that points of one bin do not hide each other
CLUMPS = ("0.25", "0.5", "0.75")
PointsByOrder = dict[int, list[BinnedAcceptance]]


@explanation(
    asks="Do surviving pieces of the text explain what is accepted?",
    paper="UNLI Fig. 3, 10",
    calls=lambda subject, clumped, **_: {
        **subject.perturbed_calls(),
        "clumped texts": len(CLUMPS)
        * max(1, subject.settings.n_variants // len(CLUMPS))
        * len(subject.examples)
        * clumped,
    },
)
def overlap(subject: Subject, *, width: float = 0.15, clumped: bool = True) -> Explained:
    """Show acceptance by BLEU-2, 3 and 4 of each permutation with its original, in bins of `width`.

    `clumped` adds permutations that keep a quarter, half and three quarters of the words together,
    a third of q each.
    """
    if not 0 < width <= 1:
        raise BadSetting("overlap", width=width, need="a share above 0, at most 1")
    perturbed = subject.perturbed()
    values = bleu_of(perturbed)
    is_accepted = accepted(perturbed.outcomes)
    points = _points(values, is_accepted, width)
    slope = slope_within(values[:, :, 0], is_accepted)
    what = perturbed.outcomes.transformation
    figures = [_figure("overlap", f"permutations ({what})", points, subject)]
    notes = []
    if clumped:
        try:
            found, n = _clumped(subject, width)
            figures.append(_figure("overlap_clumped", "clumped permutations", found, subject))
            notes = [
                f"clumped permutations are those of the {n:,} examples that can be clumped in all "
                "three ways"
            ]
        except NothingToMeasure as error:
            notes = [f"clumped permutations are not shown: {error}"]
    scores = {f"bleu2_{row['from']:.2f}-{row['to']:.2f}": score for row, score in points[2]}
    if slope is not None:
        scores["slope_within_bleu2"] = slope
    most = {n: float(np.nanmax(values[:, :, i])) for i, n in enumerate(ORDERS) if n > 2}
    scores |= {
        f"most_bleu{n}": Score(value, value, value, len(values)) for n, value in most.items()
    }
    highest = " and ".join(f"{value:.2f} (BLEU-{n})" for n, value in most.items())
    finding = (
        f"{said_ends(points[2], 'BLEU-2', 2)}{said_within(slope, 'BLEU-2')}; the most that {what} "
        f"leaves is {highest}"
    )
    return Explained(finding, figures, scores=scores, notes=notes, skips=perturbed.skips)


def bleu_of(perturbed: PerturbedExamples) -> Floats:
    """BLEU-2, 3 and 4 of every variant with its original (examples × variants × 3)."""
    found = np.full((*perturbed.outcomes.predictions.shape[:2], len(ORDERS)), np.nan)
    is_reference = perturbed.outcomes.fidelity == "released"
    perturbed.check_positions()
    for i, variants in enumerate(perturbed.variants):
        moved = [rows for rows in variants.sides if _is_moved(rows)] or variants.sides
        scored = [
            bleu(rows.sentence, rows.positions, is_reference=is_reference)[:, 1:] for rows in moved
        ]
        n = len(variants)
        found[i, :n] = np.mean([np.broadcast_to(each, (n, len(ORDERS))) for each in scored], axis=0)
    return found


def _is_moved(rows: PositionRows) -> bool:
    own = np.arange(len(rows.sentence))
    return rows.positions.shape[1] != len(own) or bool((rows.positions != own).any())


def _points(values: Floats, is_accepted: Bools, width: float) -> PointsByOrder:
    edges = edges_of(width, 1.0)
    points = {n: by_bin(values[:, :, i], is_accepted, edges) for i, n in enumerate(ORDERS)}
    if not points[2]:
        raise NothingToMeasure("no range of BLEU-2 holds five examples")
    return points


def _clumped(subject: Subject, width: float) -> tuple[PointsByOrder, int]:
    """Acceptance with clumps of all sizes, for the examples that have all; and their number."""
    parts = [
        subject.perturbed(
            f"clump:share={share}", q=max(1, subject.settings.n_variants // len(CLUMPS))
        )
        for share in CLUMPS
    ]
    names = set.intersection(*(set(part.outcomes.example.tolist()) for part in parts))
    if not names:
        raise NothingToMeasure("no example can be clumped in all three ways")
    values = []
    is_accepted = []
    for part in parts:
        keep = np.isin(part.outcomes.example, sorted(names))
        values.append(bleu_of(part)[keep])
        is_accepted.append(accepted(part.outcomes)[keep])
    joint = np.concatenate(values, axis=1)
    return _points(joint, np.concatenate(is_accepted, axis=1), width), len(names)


def _figure(name: str, what: str, points: PointsByOrder, subject: Subject) -> Figure:
    rows = [
        {"order": f"BLEU-{n}", **row, "drawn_at": round(row["middle"] + (n - 3) * APART, 6)}
        for n in ORDERS
        for row, _ in points[n]
    ]
    x = number("drawn_at", "BLEU with the original (middle of the bin)", domain(0, 1))
    y = number("value", "share that gets the gold label", domain(0, 1))
    names = [f"BLEU-{n}" for n in ORDERS]
    layers = [
        joined(x, y, colours("order", names, marks="line")),
        *intervals(x, y, colours("order", names, marks="point")),
        *ruled("y", subject.task.chance),
    ]
    caption = (
        f"Share of {what} that get the gold label, by BLEU with the original; 95 % intervals over "
        "examples, bins of five examples or more; the dotted line is chance."
    )
    return Figure(name, caption, rows, {"layer": layers})
