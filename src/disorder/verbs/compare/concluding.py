"""What a comparison says in the end: which model uses word order more, and which is more accurate.

Two differences are chosen beforehand for each pair and group (skill kept under one transformation,
accuracy on original texts) and tested by themselves, with Holm's correction for the two.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from disorder.metrics import holm
from disorder.results.comparison import (
    ALPHA,
    Comparison,
    ComparisonConclusion,
    ComparisonKind,
    Difference,
)
from disorder.results.conclusion import NAMES
from disorder.results.run import Run
from disorder.types import ORIGINAL

SKILL = "skill_kept"
MISLED = "misled_by_order"
ACCURACY = ("accuracy", "spearman")  # labels, numbers
SAME_SKILL = 0.05  # a difference within it counts as none
SAME_ACCURACY = 0.02
NOT_MEASURED = "skill kept was not measured (--curtail or --score)"


def main_of(runs: Sequence[Run], transformations: Sequence[str]) -> str:
    """The transformation that the runs were concluded on, else the first that changes nothing but
    the order of words in texts; empty where there is none.
    """
    if any(run.settings.get("break_", "text") != "text" for run in runs):
        return ""
    wanted = [run.conclusion.transformation for run in runs if run.conclusion is not None]
    ranked = [*wanted, *runs[0].breaks_order]
    return next((spec for spec in ranked if spec in transformations), "")


def conclusions_of(
    found: Comparison, runs: Mapping[str, Run], metrics: Sequence[str]
) -> Iterator[ComparisonConclusion]:
    """One conclusion per pair of runs and group, unless the user asked for other scores; where a
    skill was not measured, it says why.
    """
    is_wanted = found.main and (not metrics or SKILL in metrics)
    for base, other, group, differences in found.pairs:
        skill = _one(differences, found.main, (SKILL,))
        accuracy = _one(differences, ORIGINAL, ACCURACY)
        if accuracy is None or not is_wanted:
            continue
        beyond = _beyond_more_or_less((base, other), runs, found.main, group) if skill else ""
        because = beyond if skill else _why_not((base, other), runs, found.main, group)
        order, right = holm([skill.p if skill else 0.0, accuracy.p])
        yield ComparisonConclusion(
            base=base,
            other=other,
            group=group,
            transformation=found.main,
            order=_kind(skill, order, SAME_SKILL) if skill and not beyond else "undecided",
            accuracy=_kind(accuracy, right, SAME_ACCURACY),
            skill_kept=skill,
            original=accuracy,
            because=because,
        )


def _beyond_more_or_less(
    names: Sequence[str], runs: Mapping[str, Run], spec: str, group: str
) -> str:
    """What is said instead of more and less: where order misleads one of the two, or both lose all
    their skill; empty where neither holds.
    """
    kinds = [_kind_of(runs[name], group) for name in names]
    if MISLED in kinds:
        told = [_with_kind(name, kind) for name, kind in zip(names, kinds, strict=True)]
        return "; ".join(told if kinds[0] == MISLED else told[::-1])
    records = [runs[name].score(spec, SKILL, group) for name in names]
    values = [record.value for record in records if record is not None]
    if len(values) == len(names) and all(value <= 0 for value in values):
        return f"both lose all their skill: {names[0]} and {names[1]}"
    return ""


def _kind_of(run: Run, group: str) -> str:
    """The kind of a run's conclusion on a group; empty where it has none."""
    found = run.conclusion if group == "all" else run.conclusions.get(group)
    return "" if found is None else found.kind


def _with_kind(name: str, kind: str) -> str:
    if kind == MISLED:
        return f"order misleads {name}"
    keeps = kind in ("bag_of_words", "bag_or_misled", "order_not_used")
    return f"{name} keeps its skill" if keeps else f"{name}: {NAMES.get(kind, 'no conclusion')}"


def _why_not(names: Sequence[str], runs: Mapping[str, Run], spec: str, group: str) -> str:
    """Why there is no skill to compare, for each run that has none."""
    reasons = []
    for name in names:
        if runs[name].score(spec, SKILL, group) is None:
            gone = [
                each.reason
                for each in runs[name].omitted
                if (each.transformation, each.metric, each.group) == (spec, SKILL, group)
            ]
            reasons.append(f"{name}: {gone[0] if gone else NOT_MEASURED}")
    return "; ".join(reasons) or "too few examples that both runs share"


def _one(differences: Sequence[Difference], spec: str, metrics: Sequence[str]) -> Difference | None:
    return next((d for d in differences if d.transformation == spec and d.metric in metrics), None)


def _kind(found: Difference, p: float, same: float) -> ComparisonKind:
    """Higher or lower where the test says so; the same where the interval leaves no room for
    another.
    """
    if p < ALPHA and not found.low <= 0 <= found.high:
        return "higher" if found.difference > 0 else "lower"
    return "same" if -same <= found.low and found.high <= same else "undecided"
