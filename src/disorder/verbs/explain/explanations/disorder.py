"""Disorder: does a model follow the order of neighbours, or where in the text words stand?

Texts are perturbed in ways that break mostly the one or mostly the other, and predictions that are
kept are set against local and global disorder, one by one and jointly. After Clouâtre et al.
(2022), who found that local order matters most; the measures are in docs/definitions.md.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from disorder.errors import BadSetting, NothingToMeasure
from disorder.metrics import mean
from disorder.registry import explanation
from disorder.results.result import Figure, Row, Table
from disorder.transformations.positions.disorder import variant_disorder
from disorder.types import DISORDER, Bools, Floats
from disorder.verbs.explain.acceptance_bins import by_bin, edges_of, slope_within
from disorder.verbs.explain.chart_style import (
    BLUE,
    colours,
    domain,
    intervals,
    joined,
    name,
    number,
)
from disorder.verbs.explain.disorder_regression import JointSlopes, joint_slopes
from disorder.verbs.explain.result import Explained, bounds, said, signed
from disorder.verbs.explain.subject import PerturbedExamples, Subject

# from local disorder alone to global disorder alone; all on the text that the task names
SPECS = (
    "swap_adjacent:k=1",
    "swap_adjacent:k=2",
    "shuffle_window:window=2",
    "shuffle_window:window=4",
    "derange:side=task",
    "keep_bigrams:share=0.25",
    "keep_bigrams:share=0.5",
    "keep_bigrams:share=0.75",
    "rotate",
)
TITLES = {"local": "local disorder", "global": "global disorder"}
SAID = {
    "local": "the model follows local order more than global order",
    "global": "the model follows global order more than local order",
    "both": "the model follows local and global order; which of them more is undecided",
    "neither": "no prediction changes, whatever the order",
    "undecided": "which order the model follows is undecided",
}
Values = dict[str, Floats]


@explanation(asks="Does the model follow local or global order?", usual=False)
def disorder(
    subject: Subject,
    *,
    draws: int = 5,
    level: Literal["word", "char"] = "word",
    width: float = 0.125,
) -> Explained:
    """Show how many predictions are kept at each level of local and of global disorder, and which
    of the two they follow when both are fitted together.

    `draws` texts per example are drawn of each of nine perturbations; `level` measures the disorder
    of words or of characters, `width` is that of the bins.
    """
    if draws < 1 or not 0 < width <= 1:
        raise BadSetting("disorder", draws=draws, width=width, need="1 or more, a width up to 1")
    found, notes = _perturbed(subject, draws)
    values, is_kept = _aligned(subject, found)
    suffix = "_char" if level == "char" else ""
    chosen = {key: values[f"{key}_disorder{suffix}"] for key in TITLES}
    slopes = joint_slopes(chosen["local"], chosen["global"], is_kept)
    scores = {
        "local": slopes.local,
        "global": slopes.global_,
        "local − global": slopes.difference,
    }
    finding = (
        f"{SAID[slopes.follows]}: from none to the worst, local disorder costs "
        f"{said(slopes.local)} of the predictions and global disorder {said(slopes.global_)}, each "
        f"with the other held fixed; difference {signed(slopes.difference)}"
    )
    tables = [
        Table("disorder_by_perturbation", "Each perturbation", _rows(subject, found)),
        Table("disorder_alone", "Each measure by itself, within examples", _alone(values, is_kept)),
    ]
    figures = [_curves(chosen, is_kept, width, level), _bars(slopes)]
    skips = {
        f"{each.outcomes.transformation}: {reason}": n
        for each in found
        for reason, n in each.skips.items()
    }
    return Explained(finding, figures, tables, scores, [*notes, *_notes()], skips)


def _perturbed(subject: Subject, draws: int) -> tuple[list[PerturbedExamples], list[str]]:
    """The perturbations that can be made of these texts, and notes on the others."""
    found = []
    notes = []
    for spec in SPECS:
        try:
            found.append(subject.perturbed(spec, q=draws))
        except NothingToMeasure as reason:
            notes.append(f"left out: {reason}")
    if len(found) < 2:
        raise NothingToMeasure("; ".join(notes))
    return found, notes


def _aligned(subject: Subject, found: list[PerturbedExamples]) -> tuple[Values, Bools]:
    """The measures of all variants, and whether the prediction is kept: examples × variants, NaN
    where an example has no such variant.
    """
    numbers = {example.id: i for i, example in enumerate(subject.examples)}
    n = len(subject.examples)
    widths = [each.outcomes.predictions.shape[1] for each in found]
    values = {key: np.full((n, sum(widths)), np.nan) for key in DISORDER}
    is_kept = np.zeros((n, sum(widths)), dtype=bool)
    start = 0
    for each, width in zip(found, widths, strict=True):
        outcomes = each.outcomes
        places = np.array([numbers[str(example.id)] for example in each.examples])
        is_kept[places, start : start + width] = outcomes.label == outcomes.original_label[:, None]
        for place, variants in zip(places.tolist(), each.variants, strict=True):
            for key, measured in variant_disorder(variants).items():
                values[key][place, start : start + len(measured)] = measured
        start += width
    return values, is_kept


def _rows(subject: Subject, found: list[PerturbedExamples]) -> list[Row]:
    """Mean disorder and share of predictions kept, one row per perturbation."""
    rows: list[Row] = []
    for each in found:
        measured = [variant_disorder(variants) for variants in each.variants]
        outcomes = each.outcomes
        kept = (outcomes.label == outcomes.original_label[:, None]).sum(axis=1)
        row: Row = {"transformation": outcomes.transformation}
        row |= {
            key: round(float(np.mean([values[key].mean() for values in measured])), 4)
            for key in DISORDER
        }
        rows.append(row | bounds(mean(kept / outcomes.n_variants)))
    return rows


def _alone(values: Values, is_kept: Bools) -> list[Row]:
    """The slope of kept predictions on each measure alone."""
    rows: list[Row] = []
    for key in DISORDER:
        slope = slope_within(values[key], is_kept)
        if slope is not None:
            rows.append({"measure": key, **bounds(slope)})
    return rows


def _curves(chosen: Values, is_kept: Bools, width: float, level: str) -> Figure:
    rows = [
        {"measure": TITLES[key], **row}
        for key, values in chosen.items()
        for row, _ in by_bin(values, is_kept, edges_of(width, 1.0))
    ]
    unit = "words" if level == "word" else "characters"
    x = number("middle", f"disorder of {unit}, from none to the worst", domain(0, 1))
    y = number("value", "share of predictions kept", domain(0, 1))
    names = list(TITLES.values())
    layers = [
        joined(x, y, colours("measure", names, marks="line")),
        *intervals(x, y, colours("measure", names, marks="point")),
    ]
    caption = (
        "Share of perturbed texts whose prediction is that of the original, by local disorder "
        "(neighbours lost) and by global disorder (distance travelled), each whatever the other; "
        "95 % intervals over examples, bins of five examples or more."
    )
    return Figure("disorder", caption, rows, {"layer": layers})


def _bars(slopes: JointSlopes) -> Figure:
    rows = [
        {"measure": TITLES["local"], **bounds(slopes.local)},
        {"measure": TITLES["global"], **bounds(slopes.global_)},
    ]
    y = name("measure", list(TITLES.values()))
    x = number("value", "share of predictions lost from none to the worst, the other held fixed")
    point = {"type": "point", "filled": True, "size": 90, "opacity": 1, "color": BLUE}
    layers = [
        {
            "mark": {"type": "rule", "size": 2, "color": BLUE},
            "encoding": {"y": y, "x": x | {"field": "low"}, "x2": {"field": "high"}},
        },
        {"mark": point, "encoding": {"y": y, "x": x}},
    ]
    caption = (
        "Local and global disorder fitted together, within examples: what each costs with the "
        "other held fixed, with 95 % intervals over examples."
    )
    return Figure("disorder_joint", caption, rows, {"height": {"step": 30}, "layer": layers})


def _notes() -> list[str]:
    return [
        "A prediction is kept where it is that of the original text, right or wrong. The fit is a "
        "straight line through what may be a curve: look at the bins too."
    ]
