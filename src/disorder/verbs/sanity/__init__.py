"""Sanity checks of a dataset: does it need word order, both texts, all word classes, or can it be
gamed?

`sanity` runs the checks. A check is a function of a `CheckInput` that returns a `CheckResult`, in a
file of its own in checks/ or in a plugin, declared by `disorder.registry.check`.
"""

from __future__ import annotations

from disorder.data.families import Families
from disorder.results.result import Figure, Table
from disorder.verbs.sanity.checking import sanity
from disorder.verbs.sanity.result import Sanity
from disorder.verbs.sanity.rows import LIMIT
from disorder.verbs.sanity.trials import CheckInput, Trial, TrialPredictions, Trials
from disorder.verbs.sanity.verdicts import CheckResult, Role, Verdict, VerdictRule

__all__ = [
    "LIMIT",
    "CheckInput",
    "CheckResult",
    "Families",
    "Figure",
    "Role",
    "Sanity",
    "Table",
    "Trial",
    "TrialPredictions",
    "Trials",
    "Verdict",
    "VerdictRule",
    "sanity",
]
