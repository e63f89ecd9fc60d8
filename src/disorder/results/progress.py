"""Progress of a verb: which step of how many, how long is left, what comes next; and a bar in a
notebook.

A verb reports each of its stages by `progress(stage, done, total, note)`. `Steps` passes that on
and adds the stage `OVERALL`, whose unit are the steps. The bars of rich and tqdm need ipywidgets,
which few notebooks have: ours need nothing.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any, TypeVar

from disorder.types import Progress

OVERALL = "in all"  # the stage that counts steps
ENOUGH = 0.05  # of the work, done before the time left is estimated
MINUTE = 60.0
HOUR = 3600.0
T = TypeVar("T")


class Steps:
    """A progress callback for a verb whose steps are known when it begins.

    `steps` are names, or names with how much work each is. A stage of that name begins its step, as
    does `begin`. A step may have steps of its own, which only say how far it is.
    """

    def __init__(
        self,
        report: Progress,
        steps: Sequence[str] | Mapping[str, float],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.report = report
        self.names = list(steps)
        self.work = [float(steps[name]) if isinstance(steps, Mapping) else 1.0 for name in steps]
        self.clock = clock
        self.began = clock()
        self.at = -1  # the step under way
        self.share = 0.0  # of it that is done
        self.is_divided = False  # whether it has steps of its own

    def __call__(self, stage: str, done: int, total: int, note: str) -> None:
        """Pass a stage on, and tell how far all steps are."""
        self.begin(stage)
        if stage == OVERALL:
            self.is_divided = True
        else:
            self.report(stage, done, total, note)
        if self.is_divided == (stage == OVERALL):
            self.share = done / total if total else 0.0
        if self.names[-1:] == [stage] and done >= total:
            self.at = len(self.names)
        self._tell()

    def begin(self, name: str) -> None:
        """Begin the step of that name, if it is one that did not begin yet."""
        if name in self.names[self.at + 1 :]:
            self._begin(self.names.index(name, self.at + 1))

    def counted(self, results: Iterable[T]) -> Iterator[T]:
        """The results of steps that are computed as they are asked for."""
        self._begin(0)
        for number, result in enumerate(results, start=1):
            self._begin(number)
            yield result

    def finish(self) -> None:
        """Say that all steps are done."""
        self.at = len(self.names)
        self._tell()

    def _begin(self, number: int) -> None:
        self.at = number
        self.share = 0.0
        self.is_divided = False
        self._tell()

    def _tell(self) -> None:
        n = len(self.names)
        if n > 1 and self.at >= 0:
            self.report(OVERALL, min(self.at, n), n, ", ".join(filter(None, self._outlook())))

    def _outlook(self) -> Iterator[str]:
        """How long the rest takes, and what comes next."""
        if self.at >= len(self.names):
            return
        yield self.time_left()
        following = self.names[self.at + 1 : self.at + 2]
        yield f"next: {following[0]}" if following else ""

    def time_left(self) -> str:
        """About how long the rest will take, once enough is done to say."""
        done = sum(self.work[: max(self.at, 0)])
        if 0 <= self.at < len(self.work):
            done += self.work[self.at] * self.share
        left = sum(self.work) - done
        if left <= 0 or done < ENOUGH * sum(self.work):
            return ""
        return f"about {spelled_time((self.clock() - self.began) * left / done)} left"


def step_text(done: int, total: int) -> str:
    """The step under way, where so many are done.

    >>> step_text(1, 5), step_text(5, 5)
    ('step 2 of 5', 'all 5 steps')
    """
    return f"all {total} steps" if done >= total else f"step {done + 1} of {total}"


def stage_text(stage: str, done: int, total: int, note: str) -> str:
    """A stage in one line.

    >>> stage_text("derange", 5, 10, "P_c 0.5")
    'derange: 5 of 10, P_c 0.5'
    >>> stage_text(OVERALL, 1, 3, "about 40 s left, next: sort")
    'step 2 of 3: about 40 s left, next: sort'
    """
    if stage == OVERALL:
        return f"{step_text(done, total)}: {note}" if note else step_text(done, total)
    return ", ".join(filter(None, (f"{stage}: {done:,} of {total:,}", note)))


def spelled_time(seconds: float) -> str:
    """A time as people say it.

    >>> spelled_time(40), spelled_time(400), spelled_time(9000)
    ('40 s', '7 min', '2.5 h')
    """
    if seconds < MINUTE:
        return f"{seconds:.0f} s"
    return f"{seconds / MINUTE:.0f} min" if seconds < HOUR else f"{seconds / HOUR:.1f} h"


EVERY = 0.2  # seconds between two updates of one bar


def shown_progress(progress: Progress | None) -> Progress:
    """The progress callback that was given; without one a bar in a notebook, else silence."""
    if progress is not None:
        return progress
    return NotebookBars() if in_notebook() else silent


def silent(stage: str, done: int, total: int, note: str) -> None:
    """Show no progress."""


def in_notebook() -> bool:
    """Whether a notebook's kernel runs this."""
    if "IPython" not in sys.modules:
        return False
    shell = sys.modules["IPython"].get_ipython()
    return type(shell).__name__ == "ZMQInteractiveShell"


class NotebookBars:
    """One bar per stage of a verb."""

    def __init__(self) -> None:
        self._handles: dict[str, Any] = {}
        self._last: dict[str, float] = {}

    def __call__(self, stage: str, done: int, total: int, note: str) -> None:
        """Draw or update the bar of a stage."""
        now = time.monotonic()
        if stage in self._handles and done < total and now - self._last[stage] < EVERY:
            return
        self._last[stage] = now
        from IPython.display import HTML, display

        content = HTML(bar_html(stage, done, total, note))
        if stage in self._handles:
            self._handles[stage].update(content)
        else:
            self._handles[stage] = display(content, display_id=True)


def bar_html(stage: str, done: int, total: int, note: str) -> str:
    """A stage as a line with a bar.

    >>> bar_html("derange", 5, 10, "")
    '<progress max="10" value="5"></progress> derange: 5 of 10'
    """
    text = stage_text(stage, done, total, note)
    return f'<progress max="{total}" value="{done}"></progress> {escape(text)}'
