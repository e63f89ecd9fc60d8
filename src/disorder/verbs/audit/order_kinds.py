"""The conclusion of a natural audit: three ratios of skill over families, and the kind they show.

A kind is named only where the whole interval lies in its region, which is a one-sided test at 2.5 %
at each limit. Perturbed ÷ original is looked at before the control: a bag of words with its
evidence at the edge of a text can lose it in the control and keep it in the variants. Runs that
follow a paper are concluded by concluding.py, as they always were.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from disorder.metrics import two_digits
from disorder.metrics.statistics.intervals import Z, effective_number, family_sizes
from disorder.metrics.statistics.skill import NaturalOutcomes, ThreeRatios, skill_of
from disorder.metrics.statistics.skill_ratio import BeyondChance
from disorder.results.conclusion import Caveat, Conclusion, ConclusionKind, figures
from disorder.results.run import DIGITS
from disorder.types import Outcomes, Score
from disorder.types.predictions import ABSTAINED
from disorder.verbs.audit.behaviour import ModelBehaviour

MOST = 1_000.0  # times as many examples: more is no help to name
STEPS = 12  # of a bisection
OPEN = ("undecided",)
FEWEST_FAMILIES = 5  # below there is no kind
FEW_FAMILIES = 20  # below the conclusion is about these templates
LARGE_FAMILY = 0.05  # share of the rows
# examples of other labels that a model misses before its answer counts as one: one that gets half
# of them right misses five in a row 3 times in 100
FEWEST_OTHERS = 5
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
    noise: Score | None = None
    n_rare_labels: int = 0
    answered_less: Score | None = None  # share answered on originals minus that on perturbed texts
    has_many_failures: bool = False

    @property
    def has_few_families(self) -> bool:
        """Whether there are too few for any kind."""
        return self.n_families < FEWEST_FAMILIES


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
    is_open = ratios is None or facts.has_few_families or facts.reads_beginning_only
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
    r = None if ratios.r is None else ratios.r.interval()
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


def _caveats(facts: Facts) -> Iterator[KindCaveat]:
    if facts.largest_family > LARGE_FAMILY or facts.n_families < FEW_FAMILIES:
        yield "templated"
    if facts.reads_beginning_only:
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


@dataclass(frozen=True)
class RunFacts:
    """What is known of the run, whatever the group of examples."""

    moved: Sequence[str] = ()  # the texts that moved, where another did not
    behaviour: ModelBehaviour = field(default_factory=ModelBehaviour)
    z: float = Z  # of intervals: another where the run was looked at before its end


def conclude_on_order(
    outcomes: Outcomes, limits: KindLimits, run: RunFacts, *, group: str = "all"
) -> Conclusion:
    """The conclusion about some examples of a natural audit under a transformation that keeps their
    words.
    """
    given = skill_of(outcomes)
    facts = _facts(given, run)
    ratios = [each.at(run.z) for each in given.ratios()] if facts.n_gold_labels > 1 else []
    found = (
        conclude_at_extremes(ratios, facts, limits)
        if ratios
        else conclude_kind(None, facts, limits)
    )
    kept = None
    if ratios:  # the ratio that the kind was read from; of what the surface leaves where none was
        kept = ratios[0].t if found.ratio == "t" else ratios[0].kept
    bounds = None if kept is None else kept.interval()
    is_about_order = found.kind not in ("one_gold_label", "one_label", "no_skill")
    numbers: tuple[float, ...] = ()
    if kept is not None and bounds is not None and is_about_order:
        numbers = (kept.value, min(bounds[0], kept.value), max(bounds[1], kept.value))
    value, low, high = [round(x, DIGITS) + 0.0 for x in numbers] if numbers else [None, None, None]
    return Conclusion(
        kind=found.kind,
        value=value,
        low=low,
        high=high,
        because="; ".join(_because(given, found, ratios, run, facts)),
        caveats=[
            Caveat(kind=kind, text=_caveat_text(kind, given, facts)) for kind in found.caveats
        ],
        group=group,
        transformation=outcomes.transformation,
        n=len(outcomes),
        more_examples=(
            _more_examples(ratios, facts, limits)
            if found.kind in OPEN and not facts.has_few_families
            else None
        ),
    )


def _facts(given: NaturalOutcomes, run: RunFacts) -> Facts:
    outcomes = given.outcomes
    n_labels, answers = len(np.unique(given.gold)), np.unique(outcomes.original_label)
    n_answers = len(answers)
    if outcomes.task.has_own_chance:  # gold is an option, whatever its place
        n_labels = 2
        n_answers = n_answers if outcomes.task.kind == "choice" else 2
    sizes = family_sizes(given.family)
    skill = given.skill
    return Facts(
        n_gold_labels=n_labels,
        n_answers=n_answers,
        n_others=int((given.gold != answers[0]).sum()),
        skill=skill.score(run.z),
        perfect=1 - skill.by_chance,
        n_families=effective_number(sizes),
        largest_family=float(sizes.max()) / len(given.gold) if sizes.max() > 1 else 0.0,
        is_all_moved=not run.moved,
        has_control=given.control_label is not None,
        reads_beginning_only=run.behaviour.reads_beginning_only,
        noise=run.behaviour.noise,
        n_rare_labels=len(given.rare()),
        answered_less=given.answered_less(),
        has_many_failures=float(given.n_failed.sum()) >= 0.01 * outcomes.is_predicted.sum(),
    )


def _because(
    given: NaturalOutcomes,
    found: KindFinding,
    ratios: Sequence[ThreeRatios],
    run: RunFacts,
    facts: Facts,
) -> Iterator[str]:
    """What the kind rests on, piece by piece."""
    outcomes = given.outcomes
    n = len(outcomes)
    if found.kind == "one_gold_label":
        name = outcomes.task.labels[int(given.gold[0])]
        yield f"the gold label of all {n:,} examples is {name}"
        return
    if found.kind == "one_label":
        number = int(outcomes.original_label[0])
        name = ABSTAINED if number < 0 else outcomes.task.labels[number]
        yield f"the model answers {name} to all {n:,} original texts"
        return
    if found.kind == "undecided" and facts.has_few_families:
        if not facts.largest_family:
            yield f"there are {n:,} examples, and at least {FEWEST_FAMILIES} are needed"
            return
        yield (
            f"the {n:,} examples weigh as much as {_families(facts)} of texts that share nearly "
            f"all words, and at least {FEWEST_FAMILIES} are needed (--family COLUMN says it where "
            "that is wrong)"
        )
        return
    skill = given.skill.score(run.z)
    if skill.low <= 0:
        yield _no_skill_shown(given.skill, skill, is_none=found.kind == "no_skill")
        return
    before, after = (float(share.mean()) for share in given.answered)
    if before - after > MOVED_SHARE:
        yield _declines(given)
    ratio = ratios[0].t
    control = f", {ratios[0].s.told(0)} on the surface control" if ratios[0].s else ""
    yield (
        f"{ratio.unit} is {ratio.told(1)} on original texts{control} and {ratio.told(0)} on "
        "perturbed ones"
    )
    if ratio.chance:
        yield f"chance is {ratio.chance:.2f}"
    if run.moved:
        yield f"only the order within {' and '.join(run.moved)} was changed"


def _families(facts: Facts) -> str:
    """The effective number of families, in words."""
    n = round(facts.n_families)
    return "one family" if n == 1 else f"{n:,} families"


def _no_skill_shown(skill: BeyondChance, score: Score, *, is_none: bool) -> str:
    """Accuracy beside chance, and how many more examples would show skill of this size."""
    beyond = f"{figures(score)} beyond it"
    claim = "is not above" if is_none else "is not shown to be above"
    text = (
        f"accuracy {skill.accuracy:.2f} on original texts {claim} chance "
        f"({skill.by_chance:.2f}): {beyond}"
    )
    if is_none or score.value <= 0:
        return text
    times = ((score.high - score.value) / score.value) ** 2
    if times > MOST:
        return text
    n_more = two_digits(score.n * max(0.0, times - 1) * 1.05)
    return f"{text}; about {n_more:,} more examples would show it, if it stays as it is"


def _declines(given: NaturalOutcomes) -> str:
    before, after = (100 * (1 - float(share.mean())) for share in given.answered)
    return f"it declines {after:.0f} % of the shuffled texts and {before:.0f} % of the originals"


def _caveat_text(kind: KindCaveat, given: NaturalOutcomes, facts: Facts) -> str:
    match kind:
        case "templated":
            if not facts.largest_family:  # no two examples share a text
                return (
                    f"there are {facts.n_families:,.0f} examples only: the conclusion is about "
                    "these texts, not about new ones"
                )
            return (
                f"the examples weigh as much as {_families(facts)}, the largest with "
                f"{100 * facts.largest_family:.0f} % of them: the conclusion is about these "
                "templates, not about new ones"
            )
        case "truncated":
            return "the model does not read long texts to the end: words that move leave its view"
        case "changes_by_itself":
            assert facts.noise is not None
            return (
                f"the model changes its prediction by itself for {100 * facts.noise.value:.0f} % "
                "of the texts that are predicted again"
            )
        case "no_surface_control":
            return "there is no surface control: what moving words does to marks is not known apart"
        case "takes_new_order":
            return "it takes the new order at its word: moved texts get the label they then mean"
        case "rare_labels":
            listed = [
                f"{given.outcomes.task.labels[each.label]} ({each.n:,} examples, right on "
                f"{each.right_before:,} before and {each.right_after:.1f} after)"
                for each in given.rare()
            ]
            return f"too few families to count in the ratio: {', '.join(listed)}"
        case "declines":
            return f"the model notices: {_declines(given)}"
        case "failures":
            return (
                f"{int(given.n_failed.sum()):,} perturbed texts got no answer: no kind is named "
                "unless it holds with all of them right and with all of them wrong"
            )


def _more_examples(ratios: Sequence[ThreeRatios], facts: Facts, limits: KindLimits) -> int | None:
    """About how many more examples would decide it, if values stay as they are."""

    def is_open(times: float) -> bool:
        return conclude_kind(ratios[0].grown(times), facts, limits).kind in OPEN

    if not ratios or is_open(MOST):
        return None
    few, enough = 1.0, MOST
    for _ in range(STEPS):
        times = (few * enough) ** 0.5
        if is_open(times):
            few = times
        else:
            enough = times
    return two_digits(len(ratios[0].t) * (enough - 1))
