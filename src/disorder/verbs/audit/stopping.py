"""The stopping rule of an audit (`--stop-when`): the interval of one score is watched while blocks
come in, and holds however often one looks.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from disorder.metrics import Anytime, Metric, StopRule
from disorder.runs import Run
from disorder.types import Fidelity, Outcomes, Task


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

    @property
    def is_met(self) -> bool:
        """Whether the interval is narrow enough."""
        low, high = self.interval
        return high - low < self.rule.width

    def record(self, run: Run, spec: str, n_done: int) -> None:
        """Note in the run where prediction stopped, and the interval that holds then."""
        low, high = self.interval
        metric = self.rule.metric
        run.stopped[spec] = {"metric": metric, "low": low, "high": high, "n_examples": n_done}
        note = (
            f"--stop-when: only the interval of {metric} holds at any time; the others are those "
            "of a fixed sample"
        )
        run.notes = list(dict.fromkeys([*run.notes, note]))


def use_anytime_interval(run: Run, spec: str) -> None:
    """Where prediction stopped early, the watched score has the interval that allows for it."""
    stopped = run.stopped.get(spec)
    record = run.score(spec, stopped["metric"]) if stopped else None
    if stopped and record is not None:
        record.low = min(stopped["low"], record.value)
        record.high = max(stopped["high"], record.value)
