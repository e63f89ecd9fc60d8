"""When is something needed? An equivalence test on what its loss costs, read from one interval.

A loss is proof of need, whatever the model: it had found a use for what was taken away. That
nothing is lost proves the contrary only if the model can do a good part of the task; a model that
has learned little has little to lose.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

from disorder.errors import BadSetting
from disorder.types import Score
from disorder.verbs.sanity.result import points, said

NEEDED, NOT_NEEDED, UNDECIDED = "needed", "not needed", "undecided"
NEARLY = 0.9  # of the way from chance to perfect
TOO_LITTLE = "The model knows too little of the task to say no"


@dataclass(frozen=True)
class Rule:
    """`margin` is the largest cost that still counts as none; `skill` the least share of the way
    from chance to perfect.
    """

    margin: float = 0.05
    skill: float = 0.25

    def __post_init__(self) -> None:
        if not 0 < self.margin < 1:
            raise BadSetting(
                "sanity",
                margin=self.margin,
                need="a share above 0 and below 1 (0.05 is five points)",
            )
        if not 0 <= self.skill < 1:
            raise BadSetting("sanity", skill=self.skill, need="a share from 0 to below 1")

    def decide(
        self, cost: Score, whole: Score, chance: float, *, together: int = 1
    ) -> tuple[str, str]:
        """The answer, and what keeps it from being one or bounds it; `whole` is the score on whole
        texts.

        Where one of several costs is enough for an answer, `together` is how many: their intervals
        are widened to hold jointly.
        """
        if whole.low <= chance:
            return (
                UNDECIDED,
                f"The model has not learned the task: it scores {said(whole)}, chance is {chance:.3f}",
            )
        low, high = jointly(cost, together)
        if low > self.margin:
            return NEEDED, ""
        if high >= self.margin:
            which = (
                f" that holds for {together} costs together, [{100 * low:.1f}, {100 * high:.1f}],"
                if together > 1
                else ""
            )
            return (
                UNDECIDED,
                f"The interval{which} holds the margin of {100 * self.margin:g} points",
            )
        if whole.low < self.enough(chance):
            return UNDECIDED, TOO_LITTLE
        return NOT_NEEDED, f"That is as far as this model gets: {said(whole)}"

    def enough(self, chance: float) -> float:
        """The score that a model must surely have for a "not needed"."""
        return chance + self.skill * (1 - chance)

    def is_nearly_perfect(self, whole: Score, chance: float) -> bool:
        """Whether so little is left to be gained that what a model did not use cannot be needed."""
        return whole.low >= chance + NEARLY * (1 - chance)

    def gives_away(self, gain: Score) -> str:
        """Whether a baseline that should know nothing gets more than the margin above chance."""
        if gain.low > self.margin:
            return "gives away"
        return UNDECIDED if gain.high >= self.margin else "gives nothing away"


def jointly(cost: Score, together: int) -> tuple[float, float]:
    """A 95 % interval made so wide that as many of them hold together (Bonferroni)."""
    factor = NormalDist().inv_cdf(1 - 0.025 / together) / NormalDist().inv_cdf(0.975)
    return cost.value - factor * (cost.value - cost.low), cost.value + factor * (
        cost.high - cost.value
    )


def reason(what: str, cost: Score, trouble: str) -> str:
    """Why a verdict is as it is: what was done, what it costs, and what stands in the way of an
    answer.
    """
    return f"{what} costs {points(cost)}" + (f". {trouble}" if trouble else "")
