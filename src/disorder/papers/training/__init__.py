"""Many trainings side by side: designs of training and test data, and mitigations."""

from __future__ import annotations

from disorder.papers.training.corruption_designs import (
    Design,
    FinishedDesigns,
    designs,
)
from disorder.papers.training.mitigation_comparison import (
    chosen_lines,
    compared_mitigations,
    held_out_score,
    mitigations,
)
from disorder.papers.training.mitigation_scores import (
    ALL,
    Finding,
    accuracy_difference,
    gain_lines,
)

__all__ = [
    "ALL",
    "Design",
    "Finding",
    "FinishedDesigns",
    "accuracy_difference",
    "chosen_lines",
    "compared_mitigations",
    "designs",
    "gain_lines",
    "held_out_score",
    "mitigations",
]
