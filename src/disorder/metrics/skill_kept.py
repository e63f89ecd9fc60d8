"""Skill kept: the share of a model's skill above chance that is left on perturbed texts.

(balanced accuracy on perturbed texts − 1/m) ÷ (the same on original texts − 1/m), m the labels that
the gold has. In balanced accuracy every label counts the same, so that any constant or random
answer has no skill, whatever the mix of labels: a model that gives one label as soon as a word
moves keeps 0, a bag of words 1. Numbers: the ratio of rank correlations. Our own.
"""

from __future__ import annotations

import numpy as np

from disorder.errors import NothingToMeasure
from disorder.metrics.spearman import numbers
from disorder.metrics.statistics.skill import is_by_families, skill_of
from disorder.metrics.statistics.skill_ratio import SkillRatio
from disorder.registry import metric
from disorder.types import Outcomes


@metric(
    title="skill kept",
    meaning="share of the skill above chance that is left: 0 for any constant or random answer, "
    "1 for a bag of words, whatever the mix of labels",
    better="low where the task needs order",
    of="variants",
    on="any",
    position=15,
    copies="never",
)
def skill_kept(outcomes: Outcomes) -> SkillRatio:
    """Balanced accuracy above chance on perturbed texts, divided by the same on original texts; for
    numbers the ratio of rank correlations.
    """
    if outcomes.is_copy:
        raise NothingToMeasure("a copy does not have the gold label of the original text")
    if outcomes.task.is_regression:
        gold = outcomes.gold.astype(np.float64)
        original = outcomes.original[:, 0].astype(np.float64)
        return SkillRatio.of_numbers(gold, original, numbers(outcomes).astype(np.float64))
    has_skill = outcomes.chance is not None or len(np.unique(outcomes.gold)) > 1
    if is_by_families(outcomes) and has_skill:
        return skill_of(outcomes).ratios()[0].t
    return SkillRatio.of_labels(outcomes.gold, outcomes.is_right, outcomes.acceptance)
