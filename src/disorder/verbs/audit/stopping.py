"""The stopping rule of an audit (`--stop-when`): the interval of one score is watched while blocks
come in, and holds however often one looks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from disorder.metrics import Anytime, Metric, StopRule
from disorder.runs import EarlyStop, Run
from disorder.types import Fidelity, Outcomes, Task

STOP_WHEN = "--stop-when"
FAIL_IF = "--fail-if"


@dataclass
class StopWatch:
    """The score that a rule is about, under one transformation."""

    rule: StopRule
    task: Task
    fidelity: Fidelity
    sequence: Anytime = field(default_factory=Anytime)

    def take(self, outcomes: Outcomes) -> None:
        """Take the examples just predicted into the confidence sequence."""
        self.sequence.update(Metric.named(self.rule.metric).watched(outcomes))

    @property
    def interval(self) -> tuple[float, float]:
        """The interval of the score so far, in its own units."""
        metric = Metric.named(self.rule.metric)
        bounds = self.sequence.interval
        low, high = sorted(metric.in_units(self.task, self.fidelity, x) for x in bounds)
        return low, high

    def is_met(self, *, has_probabilities: bool) -> bool:
        """Whether the interval is narrow enough; never that of a score of probabilities as long as
        the model gave labels only.
        """
        low, high = self.interval
        is_narrow = high - low < self.rule.width
        return is_narrow and Metric.named(self.rule.metric).fits(
            has_probabilities=has_probabilities
        )

    def record(self, run: Run, spec: str, n_done: int) -> None:
        """Note in the run where prediction stopped, and the interval that holds then."""
        add_early_stop(run, spec, self.rule.metric, self.interval, n_done)
        note_other_intervals(run, STOP_WHEN, [self.rule.metric])


def not_predicted(option: str) -> str:
    """Why examples are left out that were not reached when an option ended the run."""
    return f"not predicted ({option})"


def add_early_stop(
    run: Run, spec: str, metric: str, interval: tuple[float, float], n_done: int
) -> None:
    """Note a watched score; of two rules on one score the last tells the interval, which is that of
    both.
    """
    others = [e for e in run.stopped if (e.transformation, e.metric) != (spec, metric)]
    low, high = interval
    found = EarlyStop(transformation=spec, metric=metric, low=low, high=high, n_examples=n_done)
    run.stopped = [*others, found]


def note_other_intervals(run: Run, option: str, scores: Sequence[str]) -> None:
    """Say that only watched scores have intervals that hold whenever one stops."""
    what = f"interval of {scores[0]} holds"
    if len(scores) > 1:
        what = f"intervals of {', '.join(scores)} hold"
    note = f"{option}: only the {what} at any time; the others are those of a fixed sample"
    run.notes = list(dict.fromkeys([*run.notes, note]))


def is_stopped_early(run: Run, spec: str) -> bool:
    """Whether predictions under a transformation ended because of what had been predicted."""
    is_cut = not_predicted(FAIL_IF) in run.skips.get("data", {})
    return is_cut or run.stopped_after(spec) is not None


def use_anytime_intervals(run: Run, spec: str) -> None:
    """Where prediction stopped early, watched scores have the intervals that allow for it."""
    for stopped in run.stopped:
        record = run.score(spec, stopped.metric) if stopped.transformation == spec else None
        if record is not None:
            record.low = min(stopped.low, record.value)
            record.high = max(stopped.high, record.value)
