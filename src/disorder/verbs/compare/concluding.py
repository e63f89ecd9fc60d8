"""What a comparison says in the end: which model uses word order more, and which is more accurate.

Two differences are chosen beforehand for each pair and group: skill kept under one transformation,
and accuracy on original texts. They are the main tests, one family for Holm's correction; all
others are another. Each test has one corrected p, wherever it is shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from disorder.metrics import holm
from disorder.results.comparison import (
    Comparison,
    ComparisonConclusion,
    ComparisonKind,
    Difference,
)
from disorder.results.conclusion import NAMES
from disorder.results.run import Run
from disorder.types import ORIGINAL, is_about_texts

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
    if not all(is_about_texts(run.settings.get("break_")) for run in runs):
        return ""
    wanted = [run.conclusion.transformation for run in runs if run.conclusion is not None]
    ranked = [*wanted, *runs[0].breaks_order]
    return next((spec for spec in ranked if spec in transformations), "")


def correct(found: Comparison, metrics: Sequence[str]) -> None:
    """Holm's correction of every p in its family."""
    main = [d for pair in _pairs_to_conclude(found, metrics) for d in pair[3:] if d is not None]
    for difference in found.differences:
        is_main = any(difference is each for each in main)
        difference.family = "all" if not main else "main" if is_main else "other"
    for name in ("main", "other", "all"):
        family = [d for d in found.differences if d.family == name]
        for difference, p in zip(family, holm([d.p for d in family]), strict=True):
            difference.p_holm = float(f"{p:.6g}")


def _pairs_to_conclude(
    found: Comparison, metrics: Sequence[str]
) -> Iterator[tuple[str, str, str, Difference | None, Difference]]:
    """Base, other and group, with the differences of skill kept and of accuracy."""
    if not found.main or (metrics and SKILL not in metrics):
        return
    for base, other, group, differences in found.pairs:
        accuracy = _one(differences, ORIGINAL, ACCURACY)
        if accuracy is not None:
            yield base, other, group, _one(differences, found.main, (SKILL,)), accuracy


def conclusions_of(
    found: Comparison, runs: Mapping[str, Run], metrics: Sequence[str]
) -> Iterator[ComparisonConclusion]:
    """One conclusion per pair of runs and group, unless the user asked for other scores; where a
    skill was not measured, it says why.
    """
    for base, other, group, skill, accuracy in _pairs_to_conclude(found, metrics):
        names = (base, other)
        beyond = _beyond_more_or_less(names, runs, found.main, group) if skill else ""
        because = beyond if skill else _why_not(names, runs, found.main, group)
        order: ComparisonKind = "undecided"
        if skill and not beyond and _is_above_nothing(skill, runs, found.main):
            order = _kind(skill, SAME_SKILL)
        yield ComparisonConclusion(
            base=base,
            other=other,
            group=group,
            transformation=found.main,
            order=order,
            accuracy=_kind(accuracy, SAME_ACCURACY),
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


def _is_above_nothing(skill: Difference, runs: Mapping[str, Run], spec: str) -> bool:
    """Whether two skills differ though what is below 0 counts as 0: where one is, the other's own
    interval must exclude 0.
    """
    if min(skill.base_value, skill.other_value) >= 0:
        return True
    name = skill.base if skill.base_value > skill.other_value else skill.other
    record = runs[name].score(spec, SKILL, skill.group)
    return record is not None and record.low > 0


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


def _kind(found: Difference, same: float) -> ComparisonKind:
    """Higher or lower where the corrected test says so; the same where the interval leaves no room
    for another.
    """
    if found.is_sure:
        return "higher" if found.difference > 0 else "lower"
    return "same" if -same <= found.low and found.high <= same else "undecided"
