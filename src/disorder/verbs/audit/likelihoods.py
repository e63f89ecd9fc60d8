"""`--score order_rank`: an audit that compares the likelihoods of texts and uses no labels."""

from __future__ import annotations

from collections.abc import Sequence

from disorder.errors import DisorderError
from disorder.runs.conclusion import MAIN
from disorder.runs.run import Run
from disorder.runs.settings import Settings
from disorder.types import Task

RANK = "order_rank"


def likelihood_task(task: Task, requested: Sequence[str], settings: Settings) -> Task:
    """The task of comparing likelihoods on the same data."""
    if set(requested) != {RANK}:
        others = ", ".join(name for name in requested if name != RANK)
        raise DisorderError(
            f"--score {RANK} compares likelihoods and no labels: measure {others} in another audit"
        )
    if settings.break_ != "text":
        raise DisorderError(f"--score {RANK} is about texts; leave out --break {settings.break_}")
    return Task(task.name, (), task.breaks, language=task.language, is_likelihood=True)


def rank_verdict(run: Run) -> str:
    """What such an audit says in one sentence; empty for any other."""
    if not run.is_likelihood:
        return ""
    ranked = [spec for spec in [MAIN, *run.breaks_order] if run.score(spec, RANK)]
    if not ranked:
        return "No verdict: no transformation keeps the words and changes their order."
    record = run[ranked[0], RANK]
    figures = f"{record.value:.2f} [{record.low:.2f}, {record.high:.2f}]"
    if record.low > 0.5:
        claim = "Word order matters to its likelihoods"
    elif record.high < 0.5:
        claim = "It prefers the wrong order"
    else:
        claim = "Its likelihoods do not show that word order matters"
    return (
        f"{claim}: in {figures} of the cases the original text is likelier than the same words in "
        f"another order ({record.transformation})."
    )
