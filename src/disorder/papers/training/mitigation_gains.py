"""What a mitigation gains and what it costs, against a plain model with as many updates: the skill
that is kept without word order, and accuracy on original texts, paired by example.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from disorder.data.families import find_families
from disorder.errors import NothingToMeasure
from disorder.metrics.statistics.paired import difference_of
from disorder.metrics.statistics.skill import labels_that_count
from disorder.metrics.statistics.skill_ratio import SkillRatio
from disorder.papers.training.corruption_designs import accuracy_difference
from disorder.papers.training.mitigation_scores import ALL, Finding, SeedFindings
from disorder.types import ORIGINAL, Dataset, Floats, Ints, Score

SKILL_KEPT = "skill_kept"
SKILL_GAIN = "skill_kept_difference"  # to the control
ACCURACY_GAIN = "accuracy_difference"
AGAINST = "In brackets: the difference to a plain model with as many updates, on the same texts."


def gains(per_seed: Sequence[SeedFindings], test: Dataset) -> list[Finding]:
    """The skill that each model keeps without word order, and what a mitigation gains and costs:
    skill kept and accuracy on original texts, minus those of its control, paired by example.
    """
    labels = test.task.labels
    gold = np.array([labels.index(example.label) for example in test.examples])
    family = find_families(test.examples).number
    found = []
    for name in dict.fromkeys(name for name, on in per_seed[0].counts if not on):
        own = [SeedScores.of(each, name, gold, family) for each in per_seed]
        found += _kept(name, own)
        control = [each.controls.get(name, name) for each in per_seed]
        if set(control) != {name}:
            pairs = zip(per_seed, control, strict=True)
            base = [SeedScores.of(each, other, gold, family) for each, other in pairs]
            found += _gained(name, base, own)
    return found


@dataclass(frozen=True, eq=False)
class SeedScores:
    """How far one model gets each test example right: original texts, and all perturbed ones; for
    skill an abstention counts as a guess.
    """

    gold: Ints
    family: Ints
    right: Floats
    skill_before: Floats
    skill_after: Floats

    @classmethod
    def of(cls, seed: SeedFindings, name: str, gold: Ints, family: Ints) -> SeedScores:
        """Those of a model that was measured with a seed."""
        chance = 1 / max(1, len(labels_that_count(gold, family)))
        right, abstained = (
            {kind: seed.values[name, "", metric, kind, ALL] for kind in (ORIGINAL, ALL)}
            for metric in ("accuracy", "abstained")
        )
        before, after = (right[kind] + abstained[kind] * chance for kind in (ORIGINAL, ALL))
        return cls(gold, family, right[ORIGINAL], before, after)


def _ratio(scores: Sequence[SeedScores]) -> SkillRatio:
    """The skill kept, of the mean over seeds."""
    gold, family = scores[0].gold, scores[0].family
    before = np.mean([each.skill_before for each in scores], axis=0)
    after = np.mean([each.skill_after for each in scores], axis=0)
    used = ~np.isnan(after) & np.isin(gold, labels_that_count(gold, family))
    return SkillRatio.of_labels(gold[used], before[used], after[used], family[used])


def _kept(name: str, own: Sequence[SeedScores]) -> list[Finding]:
    with suppress(NothingToMeasure):
        score = _ratio(own).score()
        by_seed = tuple(round(_ratio([each]).value, 6) for each in own)
        return [_of_score(name, SKILL_KEPT, ALL, score, by_seed)]
    return []


def _gained(name: str, base: Sequence[SeedScores], own: Sequence[SeedScores]) -> list[Finding]:
    right = [np.mean([each.right for each in side], axis=0) for side in (own, base)]
    pairs = list(zip(own, base, strict=True))
    by_seed = tuple(round(float((a.right - b.right).mean()), 6) for a, b in pairs)
    found = [_of_score(name, ACCURACY_GAIN, ORIGINAL, accuracy_difference(*right), by_seed)]
    with suppress(NothingToMeasure):
        both = difference_of(_ratio(base), _ratio(own))
        score = Score(both.difference, both.low, both.high, both.n)
        by_seed = tuple(round(_ratio([a]).value - _ratio([b]).value, 6) for a, b in pairs)
        found.append(_of_score(name, SKILL_GAIN, ALL, score, by_seed))
    return found


def _of_score(
    name: str, metric: str, texts: str, score: Score, by_seed: tuple[float, ...]
) -> Finding:
    value, low, high = (round(x, 6) for x in (score.value, score.low, score.high))
    return Finding(name, "", metric, texts, ALL, value, low, high, score.n, by_seed)


def gain_lines(found: Sequence[Finding]) -> list[str]:
    """What each mitigation gains and costs, in a sentence each."""
    of_all = [f for f in found if f.group == ALL and not f.trained_on]
    values = {(f.mitigation, f.metric, f.texts): f for f in of_all}
    lines = []
    for name in dict.fromkeys(f.mitigation for f in found if f.metric == ACCURACY_GAIN):
        kept = values.get((name, SKILL_KEPT, ALL))
        gained = values.get((name, SKILL_GAIN, ALL))
        paid = values[name, ACCURACY_GAIN, ORIGINAL]
        paid_for = values[name, "accuracy", ORIGINAL]
        abstained = values[name, "abstained", ORIGINAL]
        skill = "may have no skill to keep, or its control has none"
        if kept is not None and gained is not None:
            skill = f"keeps {kept.value:.2f} of its skill without word order ({_told(gained)})"
        lines.append(
            f"{name} {skill}; its accuracy on original texts is {paid_for.value:.2f} "
            f"({_told(paid)}), and it abstains on {abstained.value:.2f} of them."
        )
    return [*lines, AGAINST] if lines else []


def _told(gain: Finding) -> str:
    """A difference to the control, and whether there is one."""
    numbers = f"{gain.value:+.2f} [{gain.low:+.2f}, {gain.high:+.2f}]".replace("-", "−")
    return f"{numbers}, no difference shown" if gain.low <= 0 <= gain.high else numbers
