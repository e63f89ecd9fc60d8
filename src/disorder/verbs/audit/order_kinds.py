"""The conclusion of a natural audit: three ratios of skill over families, and the kind they show.

Runs that follow a paper are concluded by concluding.py, as they always were.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from disorder.metrics import two_digits
from disorder.metrics.statistics.family_variance import effective_number, family_sizes
from disorder.metrics.statistics.kinds import (
    Facts,
    KindCaveat,
    KindFinding,
    KindLimits,
    conclude_at_extremes,
    conclude_kind,
)
from disorder.metrics.statistics.skill import NaturalOutcomes, ThreeRatios, skill_of
from disorder.metrics.statistics.skill_ratio import BeyondChance
from disorder.results.conclusion import Caveat, Conclusion
from disorder.results.run import DIGITS
from disorder.types import Outcomes
from disorder.types.predictions import ABSTAINED
from disorder.verbs.audit.behaviour import ModelBehaviour

MOST = 1_000.0  # times as many examples: more is no help to name
STEPS = 12  # of a bisection
OPEN = ("undecided",)


@dataclass(frozen=True)
class RunFacts:
    """What is known of the run, whatever the group of examples."""

    moved: Sequence[str] = ()  # the texts that moved, where another did not
    behaviour: ModelBehaviour = field(default_factory=ModelBehaviour)


def conclude_on_order(
    outcomes: Outcomes, limits: KindLimits, run: RunFacts, *, group: str = "all"
) -> Conclusion:
    """The conclusion about some examples of a natural audit under a transformation that keeps their
    words.
    """
    given = skill_of(outcomes)
    facts = _facts(given, run)
    ratios = given.ratios() if facts.n_gold_labels > 1 else []
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
        because="; ".join(_because(given, found, ratios, run)),
        caveats=[_caveat(kind, given, facts) for kind in found.caveats],
        group=group,
        transformation=outcomes.transformation,
        n=len(outcomes),
        more_examples=_more_examples(ratios, facts, limits) if found.kind in OPEN else None,
    )


def _facts(given: NaturalOutcomes, run: RunFacts) -> Facts:
    outcomes = given.outcomes
    n_labels, answers = len(np.unique(given.gold)), np.unique(outcomes.original_label)
    n_answers = len(answers)
    if outcomes.task.has_own_chance:  # gold is an option, whatever its place
        n_labels = 2
        n_answers = 2 if outcomes.task.kind == "pair" else n_answers
    sizes = family_sizes(given.family)
    skill = given.skill
    return Facts(
        n_gold_labels=n_labels,
        n_answers=n_answers,
        n_others=int((given.gold != answers[0]).sum()),
        skill=skill.score(),
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
    given: NaturalOutcomes, found: KindFinding, ratios: Sequence[ThreeRatios], run: RunFacts
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
    skill = given.skill.score()
    if skill.low <= 0:
        yield _no_skill_shown(given.skill, is_none=found.kind == "no_skill")
        return
    before, after = (float(share.mean()) for share in given.answered)
    if before - after > 0.05:
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
        yield f"only {' and '.join(run.moved)} was moved"


def _no_skill_shown(skill: BeyondChance, *, is_none: bool) -> str:
    """Accuracy beside chance, and how many more examples would show skill of this size."""
    score = skill.score()
    beyond = f"{score.value:.2f} [{score.low:.2f}, {score.high:.2f}] beyond it"
    claim = "is not above" if is_none else "is not shown to be above"
    text = (
        f"accuracy {skill.accuracy:.2f} on original texts {claim} chance "
        f"({skill.by_chance:.2f}): {beyond}"
    )
    if is_none or score.value <= 0:
        return text
    times = ((score.high - score.value) / score.value) ** 2
    n_more = two_digits(score.n * max(0.0, times - 1) * 1.05)
    return f"{text}; about {n_more:,} more examples would show it, if it stays as it is"


def _declines(given: NaturalOutcomes) -> str:
    before, after = (100 * (1 - float(share.mean())) for share in given.answered)
    return f"it declines {after:.0f} % of the shuffled texts and {before:.0f} % of the originals"


def _caveat(kind: KindCaveat, given: NaturalOutcomes, facts: Facts) -> Caveat:
    return Caveat(kind=kind, text=_caveat_text(kind, given, facts))


def _caveat_text(kind: KindCaveat, given: NaturalOutcomes, facts: Facts) -> str:
    match kind:
        case "templated":
            if not facts.largest_family:  # no two examples share a text
                return (
                    f"there are {facts.n_families:,.0f} examples only: the conclusion is about "
                    "these texts, not about new ones"
                )
            return (
                f"the examples weigh as much as {facts.n_families:,.0f} families, the largest with "
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
                f"{int(given.n_failed.sum()):,} perturbed texts got no answer: the kind holds with "
                "all of them right and with all of them wrong"
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
