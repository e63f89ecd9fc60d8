"""The task of a run that was made earlier: labels, which text is perturbed, language.

run.json names the task but does not store all of it, so the rest is found as the audit found it.
"""

from __future__ import annotations

from disorder.data.tasks import KNOWN, SETS, guess_task
from disorder.runs import Run
from disorder.types import Task


def task_of(run: Run, *, is_pair: bool) -> Task:
    """The task that a run was made with; `is_pair` says whether its examples have two texts."""
    named = run.settings.get("task")
    if named in KNOWN:
        return KNOWN[str(named)]
    is_named_set = run.data.partition(":")[0] in {"builtin", *SETS}
    if is_named_set and run.task in KNOWN:
        return KNOWN[run.task]
    return guess_task(run.task, run.labels, is_pair=is_pair)
