"""What a comparison says in the end: which model uses word order more, and which is more accurate.

Two differences are chosen beforehand for each pair and group (skill kept under one transformation,
accuracy on original texts) and tested by themselves, with Holm's correction for the two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from disorder.metrics import ORIGINAL, holm
from disorder.runs import Run
from disorder.runs.comparison import (
    ALPHA,
    Comparison,
    ComparisonConclusion,
    ComparisonKind,
    Difference,
)

SKILL = "skill_kept"
ACCURACY = ("accuracy", "spearman")  # labels, numbers
SAME_SKILL = 0.05  # a difference within it counts as none
SAME_ACCURACY = 0.02


def main_of(runs: Sequence[Run], transformations: Sequence[str]) -> str:
    """The transformation that the runs were concluded on, else the first that changes the order of
    words.
    """
    wanted = [run.conclusion.transformation for run in runs if run.conclusion is not None]
    ranked = [*wanted, *runs[0].breaks_order, *transformations]
    return next((spec for spec in ranked if spec in transformations), "")


def conclusions_of(found: Comparison) -> Iterator[ComparisonConclusion]:
    """One conclusion per pair of runs and group, where both skills were compared."""
    for base, other, group, differences in found.pairs:
        skill = _one(differences, found.main, (SKILL,))
        accuracy = _one(differences, ORIGINAL, ACCURACY)
        if skill is None or accuracy is None:
            continue
        order, right = holm([skill.p, accuracy.p])
        yield ComparisonConclusion(
            base=base,
            other=other,
            group=group,
            transformation=found.main,
            order=_kind(skill, order, SAME_SKILL),
            accuracy=_kind(accuracy, right, SAME_ACCURACY),
            skill_kept=skill,
            original=accuracy,
        )


def _one(differences: Sequence[Difference], spec: str, metrics: Sequence[str]) -> Difference | None:
    return next((d for d in differences if d.transformation == spec and d.metric in metrics), None)


def _kind(found: Difference, p: float, same: float) -> ComparisonKind:
    """Higher or lower where the test says so; the same where the interval leaves no room for
    another.
    """
    if p < ALPHA and not found.low <= 0 <= found.high:
        return "higher" if found.difference > 0 else "lower"
    return "same" if -same <= found.low and found.high <= same else "undecided"
