"""Sanity checks of a dataset: does it need word order, both texts, all word classes, or can it be
gamed?

`sanity` runs the checks. A check is a function of a `CheckInput` that returns a `CheckResult`, in a
file of its own in checks/ or in a plugin, declared by `disorder.registry.check`.
"""

from __future__ import annotations

from disorder.data.families import Families
from disorder.results.result import Figure, Table
from disorder.verbs.sanity.challenge_role import Role
from disorder.verbs.sanity.check_input import CheckInput
from disorder.verbs.sanity.checking import sanity
from disorder.verbs.sanity.equivalence import VerdictRule
from disorder.verbs.sanity.result import CheckResult, Sanity, Verdict
from disorder.verbs.sanity.splits import LIMIT
from disorder.verbs.sanity.trials import Trial, TrialPredictions, Trials

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
