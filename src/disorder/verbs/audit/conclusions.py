"""The conclusions of an audit: one for each group under each transformation that keeps the words,
and in the end those of the one transformation that says most.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from disorder.data import groups
from disorder.errors import DoesNotApply
from disorder.metrics import SkillRatio
from disorder.metrics.statistics.skill import is_by_families
from disorder.requests.settings import Settings
from disorder.results.conclusion import MAIN, Caveat, Conclusion, WordBaseline
from disorder.results.run import DIGITS
from disorder.transformations import Transformation
from disorder.types import Bools, Dataset, Example, Floats, Ints, Outcomes, Variants
from disorder.verbs.audit.caveats import (
    caveats_of,
    of_behaviour,
    of_repeats,
    words_alone,
    words_explain,
)
from disorder.verbs.audit.concluding import conclude
from disorder.verbs.audit.order_kinds import KindLimits, RunFacts, conclude_on_order
from disorder.verbs.audit.word_baseline import word_baseline
from disorder.verbs.outcomes import gold_of

KEEPS_SKILL = ("bag_of_words", "bag_or_misled", "order_not_used", "mixed", "mixed_or_bag")
N_SAMPLED = 50  # examples on which transformations are told apart by what they break
MOST_TOGETHER = 1 / 3  # of neighbours beyond chance, for a model that keeps its skill to be judged


def concluded(
    outcomes: Outcomes,
    group: str,
    *,
    settings: Settings,
    skips: Mapping[str, int],
    model_labels: Sequence[str],
    n_distinct: int,
    run: RunFacts,
    more: Sequence[Caveat] = (),
) -> Conclusion:
    """The conclusion on a group of examples under a transformation that keeps their words, with its
    caveats; `n_distinct` examples differ in their texts, `more` are caveats of the whole run.
    """
    limits = KindLimits(settings.reads_below, settings.bag_above, settings.least_skill)
    is_natural = is_by_families(outcomes)
    if is_natural:
        found = conclude_on_order(outcomes, limits, run, group=group)
    else:
        found = conclude(outcomes, limits, group=group)
    found.caveats = [
        *found.caveats,
        *caveats_of(
            outcomes,
            skips=skips,
            renamed=settings.labels,
            model_labels=model_labels,
            least_skill=limits.least_skill,
        ),
        *of_behaviour(found, outcomes, limits.misled_above, run.behaviour.noise),
        *([] if is_natural else of_repeats(n_distinct, len(outcomes))),
        *more,
    ]
    return found


def main_conclusions(
    drawn: Mapping[str, Mapping[str, Conclusion]],
    plan: Sequence[Transformation],
    examples: Sequence[Example],
    perturbed: Callable[[str, Example], Variants],
) -> dict[str, Conclusion]:
    """The conclusions by group on one transformation: `derange` where it was measured, else the one
    that leaves fewest neighbouring words together. `drawn` has them by transformation and group,
    `plan` these transformations, in the user's order.
    """
    if not drawn:
        return {}
    main, kept = main_transformation(plan, examples, perturbed)
    return {group: about_what_moved(each, kept) for group, each in drawn[main].items()}


def main_transformation(
    plan: Sequence[Transformation],
    examples: Sequence[Example],
    perturbed: Callable[[str, Example], Variants],
) -> tuple[str, Neighbours | None]:
    """The transformation that is concluded on, and what it leaves of neighbouring words."""
    has_main = any(each.spec == MAIN for each in plan)
    looked_at = [each for each in plan if each.spec == MAIN or not has_main]
    kept = {each.spec: neighbours_under(each, examples, perturbed) for each in looked_at}
    # the first of equals
    main = min(kept, key=lambda spec: 1.0 if (own := kept[spec]) is None else own.in_order)
    return main, kept[main]


def about_what_moved(found: Conclusion, kept: Neighbours | None) -> Conclusion:
    """Skill that is kept where most neighbouring words stay together may rest on their order: only
    its loss can be concluded from.
    """
    is_moved = kept is None or kept.above_chance <= MOST_TOGETHER
    if kept is None or is_moved or found.kind not in KEEPS_SKILL:
        return found
    spec = found.transformation
    instead = "" if spec == MAIN else f": --with {MAIN} moves every word"
    because = (
        f"{found.because}; {spec} leaves {kept.beside:.2f} of neighbouring words side by side, so "
        f"that the skill that is kept may rest on them{instead}"
    )
    return found.model_copy(update={"kind": "undecided", "because": because})


def beside_words_alone(
    found: Mapping[str, Conclusion],
    dataset: Dataset,
    answered: Bools,
    original_label: Ints,
    *,
    seed: int,
    sanity: str,
    family: Ints | None,
) -> tuple[dict[str, Conclusion], list[WordBaseline]]:
    """Whether words alone can answer: then a model that keeps its skill is not at fault. The
    conclusions with that as a caveat, and a bag of words beside the model.

    `answered` are the examples with a prediction for the original text, which is `original_label`;
    `sanity` is the command that finds out more; a natural audit knows the family of each example,
    and excuses nothing.
    """
    conclusions = dict(found)
    rows: list[WordBaseline] = []
    if not any(each.kind in KEEPS_SKILL for each in found.values()):
        return conclusions, rows
    examples = dataset.examples
    gold = gold_of(dataset.task, examples).astype(np.int64)  # of no use for numbers
    baseline = None
    if not dataset.task.is_regression and not dataset.task.has_own_chance:
        baseline = word_baseline(dataset, gold, seed=seed, family=family)
    for group, chosen, _ in groups(examples, examples):
        own = found.get(group)
        if own is None or own.kind not in KEEPS_SKILL:
            continue
        beside = None
        if baseline is not None:
            beside = baseline.beside(gold, original_label == gold, chosen & answered)
        row = None if beside is None else _row(group, beside)
        if row is not None:
            rows.append(row)
        caveat = words_alone(row, sanity) if family is None else words_explain(row, sanity)
        if caveat.kind == "may_not_need_order" or own.kind == "bag_of_words":
            conclusions[group] = own.model_copy(update={"caveats": [caveat, *own.caveats]})
    return conclusions, rows


@dataclass(frozen=True)
class Neighbours:
    """Shares of neighbouring words: still in order, still side by side in either order, and side by
    side by chance.
    """

    in_order: float
    beside: float
    by_chance: float

    @property
    def above_chance(self) -> float:
        """The share side by side beyond that of a random order; short texts always have some."""
        return (self.beside - self.by_chance) / max(1e-9, 1 - self.by_chance)


def neighbours_under(
    transformation: Transformation,
    examples: Sequence[Example],
    perturbed: Callable[[str, Example], Variants],
) -> Neighbours | None:
    """What a transformation leaves of neighbouring words, on some examples; None where that cannot
    be said.
    """
    if transformation.needs_context:
        return None
    counts = np.zeros(4)
    for example in examples[:N_SAMPLED]:
        try:
            counts += neighbours_kept(perturbed(transformation.spec, example))
        except DoesNotApply:
            continue
    return Neighbours(*(counts[:3] / counts[3]).tolist()) if counts[3] else None


def _row(group: str, beside: SkillRatio) -> WordBaseline:
    """The bag of words beside the model, as run.json holds it."""
    words, model = beside.plain(0), beside.plain(1)
    value, low, high, own, chance = (
        round(x, DIGITS) + 0.0
        for x in (words.value, words.low, words.high, model.value, beside.chance)
    )
    return WordBaseline(
        group=group, value=value, low=low, high=high, n=words.n, model=own, chance=chance
    )


def neighbours_kept(variants: Variants) -> Floats:
    """How many neighbouring words of a perturbed text are still in order, are still side by side,
    and are so by chance, per variant; and how many there are. A text that no variant changes does
    not count.
    """
    found = np.zeros(4)
    for rows in variants.sides:
        n = rows.positions.shape[1] - 1
        is_moved = bool((rows.positions != np.arange(n + 1)).any())
        if rows.written is None and n > 0 and is_moved:
            apart = np.diff(rows.positions, axis=1)
            in_order = (apart == 1).sum(axis=1).mean()
            beside = (np.abs(apart) == 1).sum(axis=1).mean()
            found += [in_order, beside, n * min(1.0, 2 / (n + 1)), n]
    return found
