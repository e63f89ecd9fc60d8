"""From intervals to a kind: what a model does with word order, as far as the data shows it.

A kind is named only where the whole interval lies in its region, which is a one-sided test at 2.5 %
at each limit. Perturbed ÷ original is looked at before the control: a bag of words with its
evidence at the edge of a text can lose it in the control and keep it in the variants.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from disorder.metrics.statistics.skill import ThreeRatios
from disorder.metrics.statistics.skill_ratio import SkillRatio
from disorder.results.conclusion import ConclusionKind
from disorder.types import Score

FEWEST_FAMILIES = 5  # below there is no kind
FEW_FAMILIES = 20  # below the conclusion is about these templates
LARGE_FAMILY = 0.05  # share of the rows
FEWEST_OTHERS = 5  # examples of other labels that a model misses before its answer counts as one
MOVED_SHARE = 0.05  # of texts answered, from which the headline names both shares
KindCaveat = Literal[
    "templated",
    "truncated",
    "changes_by_itself",
    "no_surface_control",
    "takes_new_order",
    "rare_labels",
    "declines",
    "failures",
]
Bounds = tuple[float, float] | None


@dataclass(frozen=True)
class KindLimits:
    """Where one kind ends and the next begins, on the scale of skill kept.

    `least_skill` is the share of the way from chance to perfect below which there is none to speak
    of.
    """

    reads_below: float = 0.2
    bag_above: float = 0.8
    least_skill: float = 0.1

    @property
    def misled_above(self) -> float:
        """As far above 1 as `bag_above` is below: no bag of words gains so much without order."""
        return 2 - self.bag_above


@dataclass(frozen=True)
class Facts:
    """What is known of a run besides its ratios.

    `skill` is accuracy minus chance on original texts over all labels, `perfect` the most it could
    be. `noise` is the share of texts whose prediction changes when they are predicted again.
    """

    n_gold_labels: int
    n_answers: int
    n_others: int  # examples with another gold label than the one that is answered
    skill: Score
    perfect: float
    n_families: float
    largest_family: float = 0.0
    is_all_moved: bool = True
    has_control: bool = True
    reads_beginning_only: bool = False
    n_truncated: int = 0
    noise: Score | None = None
    n_rare_labels: int = 0
    answered_less: Score | None = None  # share answered on originals minus that on perturbed texts
    has_many_failures: bool = False


@dataclass(frozen=True)
class KindFinding:
    """A kind, the ratio that it was read from, and what to mind."""

    kind: ConclusionKind
    ratio: Literal["t", "s", "r", ""] = ""
    caveats: tuple[KindCaveat, ...] = ()


def conclude_kind(ratios: ThreeRatios | None, facts: Facts, limits: KindLimits) -> KindFinding:
    """The first kind of the table that holds."""
    found = _without_ratio(ratios, facts, limits)
    if found is None:
        assert ratios is not None
        found = _of_ratios(ratios, limits)
    if found.kind == "bag_of_words" and not facts.is_all_moved:
        found = replace(found, kind="order_not_used")
    return replace(found, caveats=(*found.caveats, *_caveats(facts)))


def conclude_at_extremes(
    ratios: Sequence[ThreeRatios | None], facts: Facts, limits: KindLimits
) -> KindFinding:
    """The kind that holds whatever failed texts would have been: the first of the ratios leaves
    them out, the others take all of them for wrong, and for right.
    """
    found = [conclude_kind(each, facts, limits) for each in ratios]
    if len({each.kind for each in found}) > 1:
        return replace(found[0], kind="undecided")
    return found[0]


def _without_ratio(
    ratios: ThreeRatios | None, facts: Facts, limits: KindLimits
) -> KindFinding | None:
    """What is known without a look at ratios."""
    if facts.n_gold_labels < 2:
        return KindFinding("one_gold_label")
    if facts.n_answers == 1 and facts.n_others >= FEWEST_OTHERS:
        return KindFinding("one_label")
    if facts.skill.low <= 0:
        is_none = facts.skill.high < limits.least_skill * facts.perfect
        return KindFinding("no_skill" if is_none else "undecided")
    is_open = ratios is None or facts.n_families < FEWEST_FAMILIES or facts.reads_beginning_only
    return KindFinding("undecided") if is_open else None


def _of_ratios(ratios: ThreeRatios, limits: KindLimits) -> KindFinding:
    t = ratios.t.interval()
    if t is None:
        return KindFinding("undecided")
    if t[0] > limits.misled_above:
        return KindFinding("misled_by_order", "t")
    if t[0] >= limits.bag_above:
        return KindFinding(_loses_nothing(t, limits), "t")
    if ratios.s is None:
        return _of_kept(t, "t", limits)
    s = ratios.s.interval()
    r = _interval(ratios.r)
    if s is not None and s[1] < limits.bag_above and not (r and r[1] < limits.bag_above):
        return KindFinding("surface", "s")
    return _of_kept(r, "r", limits)


def _of_kept(bounds: Bounds, ratio: Literal["t", "r"], limits: KindLimits) -> KindFinding:
    """The kind that the skill kept shows."""
    if bounds is None:
        return KindFinding("undecided")
    low, high = bounds
    if high <= limits.reads_below:
        return KindFinding("reads_order", ratio, ("takes_new_order",) if high < 0 else ())
    if low >= limits.bag_above:
        return KindFinding(_loses_nothing(bounds, limits), ratio)
    if low > limits.reads_below and high < limits.bag_above:
        return KindFinding("mixed", ratio)
    if low > limits.reads_below:
        return KindFinding("mixed_or_bag", ratio)
    if high < limits.bag_above:
        return KindFinding("reads_or_mixed", ratio)
    return KindFinding("undecided", ratio)


def _loses_nothing(
    bounds: tuple[float, float], limits: KindLimits
) -> Literal["bag_of_words", "bag_or_misled"]:
    return "bag_of_words" if bounds[1] <= limits.misled_above else "bag_or_misled"


def _interval(ratio: SkillRatio | None) -> Bounds:
    return None if ratio is None else ratio.interval()


def _caveats(facts: Facts) -> Iterator[KindCaveat]:
    if facts.largest_family > LARGE_FAMILY or facts.n_families < FEW_FAMILIES:
        yield "templated"
    if facts.reads_beginning_only or facts.n_truncated:
        yield "truncated"
    if facts.noise is not None and facts.noise.low > 0:
        yield "changes_by_itself"
    if not facts.has_control:
        yield "no_surface_control"
    if facts.n_rare_labels:
        yield "rare_labels"
    less = facts.answered_less
    if less is not None and less.value > MOVED_SHARE and less.low > 0:
        yield "declines"
    if facts.has_many_failures:
        yield "failures"
