"""Verdict rule: an equivalence test on what a perturbation costs, read from one interval.

A cost above the margin proves need, however weak the model. A cost below it proves the contrary
only for a model that has learned a good part of the task: one that has learned little has little
to lose. Written here because scipy and scikit-learn have no equivalence test on an interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

from disorder.errors import BadSetting
from disorder.metrics.statistics.intervals import Z
from disorder.results.writing import MINUS, in_points, with_interval
from disorder.types import Score

NEEDED = "needed"
NOT_NEEDED = "not needed"
UNDECIDED = "undecided"
GIVES_AWAY = "gives away"
GIVES_NOTHING_AWAY = "gives nothing away"
DOES_AS_WELL = "does as well"
FALLS_SHORT = "falls short"
NO_INFORMATION = "no information"  # what a baseline could see is the same in every row
NEARLY_PERFECT = 0.9  # of the way from chance to perfect
TOO_LITTLE = "The model has learned too little of the task for a 'not needed'"


@dataclass(frozen=True)
class VerdictRule:
    """When something counts as needed.

    `margin` is the largest cost that still counts as none; `skill` the share of the way from chance
    to perfect that a model must have gone for a "not needed".
    """

    margin: float = 0.05
    skill: float = 0.25

    def __post_init__(self) -> None:
        if not 0 < self.margin < 1:
            need = "a share above 0 and below 1 (0.05 is five points)"
            raise BadSetting("sanity", margin=self.margin, need=need)
        if not 0 <= self.skill < 1:
            raise BadSetting("sanity", skill=self.skill, need="a share from 0 to below 1")

    def decide(
        self, cost: Score, original: Score, chance: float, *, together: int = 1
    ) -> tuple[str, str]:
        """The answer, and what prevents or qualifies it; `original` is the score on original texts.

        Where any one of several costs is enough for an answer, `together` is how many there are:
        their intervals are widened to hold jointly.
        """
        if original.low <= chance:
            scored = f"it scores {with_interval(original)}, chance is {chance:.3f}"
            return UNDECIDED, f"The model has not learned the task: {scored}"
        low, high = joint_bounds(cost, together)
        if low > self.margin:
            return NEEDED, ""
        if high >= self.margin:
            which = ""
            if together > 1:
                bounds = f"[{100 * low:.1f}, {100 * high:.1f}]".replace("-", MINUS)
                which = f" that holds for {together} costs together, {bounds},"
            return UNDECIDED, f"The interval{which} contains the margin of {self.in_points}"
        if original.low < self.enough(chance):
            return UNDECIDED, TOO_LITTLE
        return NOT_NEEDED, f"That is as far as this model gets: {with_interval(original)}"

    @property
    def in_points(self) -> str:
        """The margin in points of a hundred."""
        return f"{100 * self.margin:g} points"

    def enough(self, chance: float) -> float:
        """The score that the lower bound of a model must reach for a "not needed"."""
        return chance + self.skill * (1 - chance)

    def is_nearly_perfect(self, original: Score, chance: float) -> bool:
        """Whether so little is left to gain that what the model did not use cannot be needed."""
        return original.low >= chance + NEARLY_PERFECT * (1 - chance)

    def gives_away(self, gain: Score) -> str:
        """Whether what a baseline scores above chance, or adds to another, exceeds the margin."""
        if gain.low > self.margin:
            return GIVES_AWAY
        return UNDECIDED if gain.high >= self.margin else GIVES_NOTHING_AWAY


def joint_z(n_intervals: int) -> float:
    """The normal quantile at which so many intervals hold together at 95 % (Bonferroni)."""
    return NormalDist().inv_cdf(1 - 0.025 / n_intervals)


def joint_bounds(cost: Score, together: int) -> tuple[float, float]:
    """A 95 % interval widened so that this many hold together."""
    factor = joint_z(together) / Z
    low = cost.value - factor * (cost.value - cost.low)
    high = cost.value + factor * (cost.high - cost.value)
    return low, high


def reason(action: str, cost: Score, trouble: str) -> str:
    """The sentence behind a verdict: what was done, its cost, and what prevents an answer."""
    line = f"{action} costs {in_points(cost)}"
    return f"{line}. {trouble}" if trouble else line
