"""Many trainings side by side: designs of training and test data, and mitigations."""

from __future__ import annotations

from disorder.papers.training.corruption_designs import accuracy_difference, designs
from disorder.papers.training.finished_designs import Design, FinishedDesigns
from disorder.papers.training.mitigation_comparison import chosen_lines, mitigations
from disorder.papers.training.mitigation_gains import gain_lines
from disorder.papers.training.mitigation_scores import ALL, Finding
from disorder.papers.training.setting_grid import held_out_score

__all__ = [
    "ALL",
    "Design",
    "Finding",
    "FinishedDesigns",
    "accuracy_difference",
    "chosen_lines",
    "designs",
    "gain_lines",
    "held_out_score",
    "mitigations",
]
