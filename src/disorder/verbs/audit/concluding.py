"""Concluding: from what a model predicted to the kind of its behaviour, decided on intervals.

The measure is `skill_kept`. Its interval must lie wholly on one side of a limit; where it does not,
the conclusion is `undecided`, with the number of examples that would decide it. docs/conclusions.md
has the rules, and how often each is wrong on models whose answer is known.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from disorder.metrics import SkillRatio, decompose, two_digits
from disorder.results.conclusion import Conclusion, ConclusionKind
from disorder.results.run import DIGITS
from disorder.types import Outcomes
from disorder.types.predictions import ABSTAINED
from disorder.verbs.audit.order_kinds import FEWEST_OTHERS, MOST, STEPS, KindLimits

SKILL = "skill_kept"
FEWEST_NUMBERS = 4  # of which a rank correlation has an interval
NEAREST = 0.02  # a value this near to a limit will hardly be decided by more examples


def kind_of(low: float, high: float, limits: KindLimits) -> ConclusionKind:
    """What an interval of the skill kept shows."""
    if high <= limits.reads_below:
        return "reads_order"
    if low > limits.misled_above:
        return "mixed"  # order is used, to the model's harm
    if low >= limits.bag_above:
        return "bag_of_words"
    if low > limits.reads_below and high < limits.bag_above:
        return "mixed"
    return "undecided"


def conclude(outcomes: Outcomes, limits: KindLimits, *, group: str = "all") -> Conclusion:
    """The conclusion about some examples under a transformation that keeps their words."""
    found = _of_numbers(outcomes) if outcomes.task.is_regression else _of_one_label(outcomes)
    if found is None:
        ratio = decompose(SKILL, outcomes)
        assert isinstance(ratio, SkillRatio)
        found = _of_ratio(ratio, limits)
        if found.kind == "undecided":
            found = _with_more_examples(found, ratio, limits)
    numbers = [None if x is None else round(x, DIGITS) + 0.0 for x in found.numbers]
    value, low, high = numbers
    return Conclusion(
        kind=found.kind,
        value=value,
        low=low,
        high=high,
        because=found.because,
        group=group,
        transformation=outcomes.transformation,
        n=len(outcomes),
        more_examples=found.more_examples,
    )


@dataclass(frozen=True)
class _Finding:
    """A kind with its reason."""

    kind: ConclusionKind
    because: str
    numbers: tuple[float | None, float | None, float | None] = (None, None, None)
    more_examples: int | None = None


def _of_one_label(outcomes: Outcomes) -> _Finding | None:
    """Where gold or answers hold one label only, there is nothing to tell skill by."""
    n = len(outcomes)
    gold = np.unique(outcomes.gold)
    if len(gold) == 1:
        name = outcomes.task.labels[int(gold[0])]
        return _Finding("one_gold_label", f"the gold label of all {n:,} examples is {name}")
    answers = np.unique(outcomes.original_label)
    others = n - int((outcomes.gold == answers[0]).sum())
    if len(answers) == 1 and others >= FEWEST_OTHERS:
        number = int(answers[0])
        name = ABSTAINED if number < 0 else outcomes.task.labels[number]
        return _Finding("one_label", f"the model answers {name} to all {n:,} original texts")
    return None


def _of_numbers(outcomes: Outcomes) -> _Finding | None:
    """Where gold or predicted numbers are all the same, or too few, there is nothing to rank."""
    n = len(outcomes)
    if n < FEWEST_NUMBERS:
        return _Finding(
            "undecided",
            f"{n:,} examples are too few to rank ({FEWEST_NUMBERS} are the least)",
        )
    if np.ptp(outcomes.gold.astype(np.float64)) == 0:
        return _Finding(
            "one_gold_label", f"the gold number of all {n:,} examples is {outcomes.gold[0]:g}"
        )
    if np.ptp(outcomes.original[:, 0]) == 0:
        return _Finding(
            "one_label",
            f"the model answers {outcomes.original[0, 0]:.3g} to all {n:,} original texts",
        )
    return None


def _of_ratio(ratio: SkillRatio, limits: KindLimits) -> _Finding:
    bounds = ratio.interval()
    if bounds is None:
        return _without_skill(ratio, limits)
    low, high = bounds
    kind = kind_of(low, high, limits)
    because = (
        f"{ratio.unit} is {ratio.told(1)} on original texts and {ratio.told(0)} on perturbed ones"
    )
    if ratio.chance:
        because += f"; chance is {ratio.chance:.2f}"
    if kind == "undecided":
        included = [x for x in (limits.reads_below, limits.bag_above) if low <= x <= high]
        because += f"; the interval includes {' and '.join(f'{x:g}' for x in included)}"
    return _Finding(kind, because, (ratio.value, low, high))


def _without_skill(ratio: SkillRatio, limits: KindLimits) -> _Finding:
    """No skill where the interval leaves none out of note; undecided where it may hold some."""
    figures = f"{ratio.unit} {ratio.told(1)} on original texts"
    least = limits.least_skill * (1 - ratio.chance)
    if ratio.plain(1).high - ratio.chance < least:
        return _Finding("no_skill", f"{figures} is not above {ratio.floor_name}")
    return _Finding("undecided", f"{figures} cannot be told from {ratio.floor_name}")


def _with_more_examples(found: _Finding, ratio: SkillRatio, limits: KindLimits) -> _Finding:
    """About how many more examples would decide it, if values stay as they are; or that they hardly
    would.
    """
    near = [x for x in (limits.reads_below, limits.bag_above) if _is_near(ratio, x)]
    if not near and _of_ratio(ratio.grown(MOST), limits).kind != "undecided":
        return replace(found, more_examples=_more_examples(ratio, limits))
    hardly = "so near to a limit that more examples will hardly decide it"
    return replace(
        found, because=f"{found.because}; the value lies {hardly}" if near else found.because
    )


def _is_near(ratio: SkillRatio, limit: float) -> bool:
    return ratio.before > 0 and abs(ratio.value - limit) <= NEAREST


def _more_examples(ratio: SkillRatio, limits: KindLimits) -> int:
    """The least number that decides it, in two digits."""
    few, enough = 1.0, MOST
    for _ in range(STEPS):
        times = (few * enough) ** 0.5
        if _of_ratio(ratio.grown(times), limits).kind == "undecided":
            few = times
        else:
            enough = times
    return two_digits(len(ratio) * (enough - 1))
