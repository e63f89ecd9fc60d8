"""Relative gain: how much of what a control loses is kept, where a perturbation has a control.

Shuffled letters against replaced ones: (accuracy when shuffled − when replaced) ÷ (accuracy on the
original texts − when replaced), over the examples that have both. 1 where shuffling costs nothing,
0 where it costs as much as letters that are gone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from disorder.errors import NothingToMeasure
from disorder.metrics import SkillRatio
from disorder.transformations import Transformation
from disorder.types import Bools, Floats, Score


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


def relative_gain(is_right: Bools | Floats, perturbed: Floats, control: Floats) -> Score:
    """The gain over examples, with Fieller's interval; values are NaN where an example was left
    out.

    One imagined example that gains nothing and one that gains all join for the interval, which has
    no width otherwise where all examples agree.
    """
    kept = ~np.isnan(perturbed) & ~np.isnan(control)
    rows = np.stack([perturbed - control, is_right.astype(np.float64) - control], axis=1)[kept]
    if not len(rows) or rows[:, 1].sum() <= 0:
        raise NothingToMeasure("the control costs nothing, so that nothing can be gained over it")
    after, before = rows.mean(axis=0).tolist()
    drawn = np.concatenate([rows, [[0.0, before], [before, before]]])
    moved = (drawn - drawn.mean(axis=0)) / np.sqrt(len(drawn) * (len(drawn) - 1))
    imagined = moved[len(rows) :]
    ratio = SkillRatio(
        after=after,
        before=before,
        deviations=moved[: len(rows)],
        imagined=imagined.T @ imagined,
        freedom=max(1, len(rows) - 1),
        chance=0.0,
        unit="accuracy over the control",
    )
    bounds = ratio.interval()
    if bounds is None:
        raise NothingToMeasure("the control costs too little for an interval")
    return Score(ratio.value, min(bounds[0], ratio.value), max(bounds[1], ratio.value), len(rows))


def gains(
    plan: Sequence[Transformation], is_right: Bools, acceptance: Mapping[str, Floats]
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
