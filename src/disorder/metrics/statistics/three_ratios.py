"""Three ratios of skill: what is left of it on perturbed texts (t), on the surface control (s), and
of the control's skill on perturbed texts (r).

t = perturbed ÷ original, s = control ÷ original, r = perturbed ÷ control; Fieller's interval each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from disorder.metrics.statistics.skill_ratio import SkillRatio
from disorder.types import Floats, Ints


@dataclass(frozen=True, eq=False)
class ThreeRatios:
    """Perturbed ÷ original; with a control also control ÷ original and perturbed ÷ control."""

    t: SkillRatio
    s: SkillRatio | None = None
    r: SkillRatio | None = None

    @property
    def kept(self) -> SkillRatio:
        """The skill kept in the headline: of what the surface leaves, where that was measured."""
        return self.t if self.r is None else self.r

    def grown(self, times: float) -> ThreeRatios:
        """What they would be with so many times as many families."""
        return self._each(lambda ratio: ratio.grown(times))

    def at(self, z: float) -> ThreeRatios:
        """The same, with intervals for another normal point."""
        return self._each(lambda ratio: replace(ratio, z=z))

    def _each(self, change: Callable[[SkillRatio], SkillRatio]) -> ThreeRatios:
        s, r = (None if each is None else change(each) for each in (self.s, self.r))
        return ThreeRatios(change(self.t), s, r)


def three_ratios(
    gold: Ints,
    original: Floats,
    perturbed: Floats,
    control: Floats | None = None,
    family: Ints | None = None,
) -> ThreeRatios:
    """The ratios of balanced skill over the labels that the gold has; the scores of each example
    are those of `booking`.
    """
    t = SkillRatio.of_labels(gold, original, perturbed, family)
    if control is None:
        return ThreeRatios(t)
    return ThreeRatios(
        t,
        SkillRatio.of_labels(gold, original, control, family),
        SkillRatio.of_labels(gold, control, perturbed, family),
    )
