"""Progress of a study: which step of how many, and about how long the rest will take."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from disorder.types import Progress
from disorder.verbs.study.result import StepResult

MINUTE = 60.0
HOUR = 3600.0


@dataclass
class StudyProgress:
    """A callback that puts the step of the study before every stage, and the time left behind."""

    report: Progress
    n_steps: int
    n_done: int = 0
    clock: Callable[[], float] = time.monotonic
    began: float = field(init=False)

    def __post_init__(self) -> None:
        self.began = self.clock()

    def __call__(self, stage: str, done: int, total: int, note: str) -> None:
        """Tell how far the study is."""
        step = f"step {min(self.n_done + 1, self.n_steps)} of {self.n_steps}"
        left = self.time_left()
        self.report(f"{step}, {stage}", done, total, ", ".join(filter(None, (note, left))))

    def time_left(self) -> str:
        """About how long the steps that are left will take, once one is done."""
        if not self.n_done or self.n_done >= self.n_steps:
            return ""
        seconds = (self.clock() - self.began) / self.n_done * (self.n_steps - self.n_done)
        return f"about {spelled_time(seconds)} left"

    def counted(self, steps: Iterable[StepResult]) -> Iterator[StepResult]:
        """The steps, each counted once it is done."""
        for step in steps:
            self.n_done += 1
            yield step


def spelled_time(seconds: float) -> str:
    """A time as people say it.

    >>> spelled_time(40), spelled_time(400), spelled_time(9000)
    ('40 s', '7 min', '2.5 h')
    """
    if seconds < MINUTE:
        return f"{seconds:.0f} s"
    return f"{seconds / MINUTE:.0f} min" if seconds < HOUR else f"{seconds / HOUR:.1f} h"
