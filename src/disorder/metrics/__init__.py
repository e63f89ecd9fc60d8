"""Metrics: one file per score. A metric is its decomposition by example; the rest follows."""

from __future__ import annotations

from disorder.metrics.acceptance import threshold
from disorder.metrics.scoring import (
    CURTAILED,
    LABELS_ONLY,
    Metric,
    decompose,
    limits,
    measure,
    metric_names,
    planned_names,
    references,
    scores,
)
from disorder.metrics.statistics.anytime import Anytime, AnytimeRatio, StopRule
from disorder.metrics.statistics.decomposition import (
    BinnedGap,
    Decomposition,
    Mean,
    RankCorrelation,
    Share,
)
from disorder.metrics.statistics.intervals import (
    average,
    mean,
    ratio,
    resampled,
    share,
    two_digits,
    widened,
)
from disorder.metrics.statistics.paired import PairedDifference, difference_of, holm
from disorder.metrics.statistics.skill_ratio import SkillRatio
from disorder.metrics.wos import dev_r, is_one_sentence, is_simple, step_counts

__all__ = [
    "CURTAILED",
    "LABELS_ONLY",
    "Anytime",
    "AnytimeRatio",
    "BinnedGap",
    "Decomposition",
    "Mean",
    "Metric",
    "PairedDifference",
    "RankCorrelation",
    "Share",
    "SkillRatio",
    "StopRule",
    "average",
    "decompose",
    "dev_r",
    "difference_of",
    "holm",
    "is_one_sentence",
    "is_simple",
    "limits",
    "mean",
    "measure",
    "metric_names",
    "planned_names",
    "ratio",
    "references",
    "resampled",
    "scores",
    "share",
    "step_counts",
    "threshold",
    "two_digits",
    "widened",
]
