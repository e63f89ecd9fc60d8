"""Concluding: from what a model predicted to the kind of its behaviour, decided on intervals.

The measure is `skill_kept`. Its interval must lie wholly on one side of a limit; where it does not,
the conclusion is `undecided`, with the number of examples that would decide it. docs/conclusions.md
has the rules, and how often each is wrong on models whose answer is known.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, inf, log10

import numpy as np

from disorder.abstention import ABSTAINED
from disorder.errors import NothingToMeasure
from disorder.metrics import SkillRatio, decompose
from disorder.runs.conclusion import Conclusion, ConclusionKind
from disorder.runs.run import DIGITS
from disorder.runs.settings import Settings
from disorder.types import Outcomes

SKILL = "skill_kept"
# A model that gets half of the other labels right misses five in a row 3 times in 100
FEWEST_OTHERS = 5
NEAREST = 0.02  # a value this near to a limit will hardly be decided by more examples
MOST = 1_000  # times as many examples: more is no help to name


@dataclass(frozen=True)
class ConclusionLimits:
    """Where one kind ends and the next begins, on the scale of `skill_kept`.

    `least_skill` is the share of the way from chance to perfect below which a model counts as one
    without skill.
    """

    reads_below: float
    bag_above: float
    least_skill: float

    @classmethod
    def of(cls, settings: Settings) -> ConclusionLimits:
        """Those of an audit."""
        return cls(settings.reads_below, settings.bag_above, settings.least_skill)

    def kind(self, low: float, high: float) -> ConclusionKind:
        """What an interval of the skill kept shows."""
        if high <= self.reads_below:
            return "reads_order"
        if low >= self.bag_above:
            return "bag_of_words"
        if low > self.reads_below and high < self.bag_above:
            return "mixed"
        return "undecided"


def conclude(outcomes: Outcomes, limits: ConclusionLimits, *, group: str = "all") -> Conclusion:
    """The conclusion about some examples under a transformation that keeps their words."""
    found = _of_one_label(outcomes)
    if found is None:
        try:
            ratio = decompose(SKILL, outcomes)
            assert isinstance(ratio, SkillRatio)
            found = _of_ratio(ratio, limits)
        except NothingToMeasure as reason:
            found = _Finding("no_skill", str(reason))
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
    if outcomes.task.is_regression:
        return None
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


def _of_ratio(ratio: SkillRatio, limits: ConclusionLimits) -> _Finding:
    bounds = ratio.interval()
    if bounds is None:
        return _without_skill(ratio, limits)
    low, high = bounds
    kind = limits.kind(low, high)
    before, after = ratio.plain(1), ratio.plain(0)
    because = (
        f"{ratio.unit} is {before.value:.2f} [{before.low:.2f}, {before.high:.2f}] on original "
        f"texts and {after.value:.2f} [{after.low:.2f}, {after.high:.2f}] on perturbed ones"
    )
    if ratio.chance:
        because += f"; chance is {ratio.chance:.2f}"
    more = None
    if kind == "undecided":
        included = [x for x in (limits.reads_below, limits.bag_above) if low <= x <= high]
        because += f"; the interval includes {' and '.join(f'{x:g}' for x in included)}"
        more = _more_examples(len(ratio), _stretch(ratio.value, low, high, limits))
    return _Finding(kind, because, (ratio.value, low, high), more)


def _without_skill(ratio: SkillRatio, limits: ConclusionLimits) -> _Finding:
    """No skill where the interval leaves none out of note; undecided where it may hold some."""
    found = ratio.plain(1)
    least = limits.least_skill * (1 - ratio.chance)
    half = max(found.high - found.value, found.value - found.low)
    figures = (
        f"{ratio.unit} {found.value:.2f} [{found.low:.2f}, {found.high:.2f}] on original texts"
    )
    floor = f"that of one constant answer ({ratio.chance:.2f})" if ratio.chance else "0"
    if found.high - ratio.chance < least:
        return _Finding("no_skill", f"{figures} is not above {floor}")
    stretch = min(
        half / ratio.before if ratio.before > 0 else inf,
        half / (least - ratio.before) if ratio.before < least else inf,
    )
    because = f"{figures} cannot be told from {floor}"
    return _Finding("undecided", because, more_examples=_more_examples(len(ratio), stretch))


def _stretch(value: float, low: float, high: float, limits: ConclusionLimits) -> float:
    """How many times too wide the interval is for the kind that the value itself has."""
    if value >= limits.bag_above:
        needed = [(value - low, value - limits.bag_above)]
    elif value <= limits.reads_below:
        needed = [(high - value, limits.reads_below - value)]
    else:
        needed = [
            (high - value, limits.bag_above - value),
            (value - low, value - limits.reads_below),
        ]
    return max(half / distance if distance > NEAREST else inf for half, distance in needed)


def _more_examples(n: int, stretch: float) -> int | None:
    """About how many more examples make an interval that much narrower, in two digits; None where
    that is out of reach.
    """
    more = n * (stretch**2 - 1)
    if not 0 < more <= n * MOST:
        return None
    unit: int = 10 ** max(0, int(log10(more)) - 1)
    return ceil(more / unit) * unit
