"""Relative gain: how much of what a control loses is kept, where a perturbation has a control.

Shuffled letters against replaced ones: (accuracy when shuffled − when replaced) ÷ (accuracy on the
original texts − when replaced), over the examples that have both. 1 where shuffling costs nothing,
0 where it costs as much as letters that are gone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from disorder.errors import NothingToMeasure
from disorder.metrics import resampled
from disorder.transformations import Transformation
from disorder.types import Floats, Ints, Score


def controls(plan: Sequence[Transformation]) -> dict[str, str]:
    """The control of each transformation that has one in the plan, by spec."""
    by_draws = {_draws(each): each.spec for each in plan if _is_control(each)}
    return {
        each.spec: by_draws[_draws(each)]
        for each in plan
        if not _is_control(each) and _draws(each) in by_draws
    }


def _is_control(transformation: Transformation) -> bool:
    return any(step.part.drawn_as for step in transformation.steps)


def _draws(transformation: Transformation) -> tuple[str, ...]:
    """What it draws by: a control shares it with what it controls, the same settings included."""
    nested = {
        name: step.settings.get(name, step.part.settings[name])
        for step in transformation.steps
        for name in step.part.nested
    }
    return (*(step.drawn_as for step in transformation.steps), str(sorted(nested.items())))


def relative_gain(is_right: Floats, perturbed: Floats, control: Floats) -> Score:
    """The gain over examples, with a paired bootstrap interval; values are NaN where an example was
    left out.
    """
    kept = ~np.isnan(perturbed) & ~np.isnan(control)
    gained = (perturbed - control)[kept]
    possible = (is_right.astype(np.float64) - control)[kept]
    if not kept.any() or possible.sum() <= 0:
        raise NothingToMeasure("the control costs nothing, so that nothing can be gained over it")

    def statistic(block: Ints) -> Floats:
        below = possible[block].sum(axis=1)
        return np.asarray(gained[block].sum(axis=1) / np.where(below > 0, below, np.nan))

    value = float(gained.sum() / possible.sum())
    low, high = resampled(statistic, int(kept.sum()))
    if np.isnan(low) or np.isnan(high):
        raise NothingToMeasure("the control costs too little for an interval")
    return Score(value, min(low, value), max(high, value), int(kept.sum()))


def gains(
    plan: Sequence[Transformation], is_right: Floats, acceptance: Mapping[str, Floats]
) -> list[dict[str, str | float | int]]:
    """The relative gain of every transformation that was measured beside its control."""
    found: list[dict[str, str | float | int]] = []
    for spec, control in controls(plan).items():
        if spec not in acceptance or control not in acceptance:
            continue
        try:
            score = relative_gain(is_right, acceptance[spec], acceptance[control])
        except NothingToMeasure:
            continue
        found.append(
            {
                "transformation": spec,
                "control": control,
                "value": round(score.value, 6),
                "low": round(score.low, 6),
                "high": round(score.high, 6),
                "n": score.n,
            }
        )
    return found
