"""Progress: a bar with a running score on a terminal, plain lines elsewhere, on standard error."""

from __future__ import annotations

import logging
import time

from rich.markup import escape
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Column
from rich.text import Text

from disorder.cli.output import console, print_text
from disorder.results.progress import OVERALL, stage_text, step_text

EVERY = 10.0  # seconds between plain lines


WIDE = 100  # columns of a terminal that has room for wide bars
NARROW = 70  # and of one that has hardly any
MOST_ROWS = 8  # bars of stages on the screen; older ones that are done make room


class Bar:
    """The `progress=` callback of a verb: shows how far it is, in all and in each stage."""

    def __init__(self) -> None:
        self.console = console(stderr=True)
        self._tasks: dict[str, TaskID] = {}
        self._last = time.monotonic()
        self._overall = ""
        is_wide = self.console.width >= WIDE
        self._progress = Progress(
            TextColumn(
                "{task.description}", table_column=Column(no_wrap=True, overflow="ellipsis")
            ),
            BarColumn(bar_width=40 if is_wide else 12 if self.console.width >= NARROW else 4),
            CountColumn(table_column=Column(no_wrap=True, min_width=13)),
            TimeLeftColumn(compact=True),
            TextColumn(
                "{task.fields[note]}", table_column=Column(no_wrap=True, overflow="ellipsis")
            ),
            console=self.console,
            disable=not self.console.is_terminal,
        )

    def __enter__(self) -> Bar:
        News.show()
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def __call__(self, stage: str, done: int, total: int, note: str) -> None:
        """One step of a stage."""
        self._show(stage, done, total, note, is_news=done == total and not note)

    def _show(self, stage: str, done: int, total: int, note: str, *, is_news: bool) -> None:
        if self.console.is_terminal:
            self._draw(stage, done, total, note)
        elif stage == OVERALL:
            self._overall = "" if done >= total else stage_text(stage, done, total, note)
        elif is_news or time.monotonic() - self._last > EVERY:
            self._last = time.monotonic()
            # the time left was told before the stage ended: it is none of a stage that is done
            overall = "" if done >= total else self._overall
            line = "; ".join(filter(None, (stage_text(stage, done, total, note), overall)))
            self.console.print(line, highlight=False, markup=False)

    def _draw(self, stage: str, done: int, total: int, note: str) -> None:
        """Draw the bar of a stage, or of all steps, and hide the oldest where there are many."""
        if stage not in self._tasks:
            self._tasks[stage] = self._progress.add_task(
                escape(stage), total=total, note="", overall=stage == OVERALL
            )
            for name in list(self._tasks)[:-MOST_ROWS]:
                self._progress.update(self._tasks[name], visible=name == OVERALL)
        task = self._tasks[stage]
        if stage == OVERALL:
            self._progress.update(task, description=step_text(done, total), note=escape(note))
        elif note:
            self._progress.update(task, note=escape(note))
        self._progress.update(task, completed=done, total=total)


class CountColumn(ProgressColumn):
    """How many of how many are done; the steps' own text says it already."""

    def render(self, task: Task) -> Text:
        """The numbers of one stage."""
        if is_overall(task) or task.total == 1:
            return Text("")
        return Text(f"{task.completed:,.0f}/{task.total or 0:,.0f}")


class TimeLeftColumn(TimeRemainingColumn):
    """How long a stage still takes; that of all steps is in their note."""

    def render(self, task: Task) -> Text:
        """The time left of one stage."""
        return Text("") if is_overall(task) or task.total == 1 else super().render(task)


def is_overall(task: Task) -> bool:
    """Whether a bar is that of all steps."""
    return bool(task.fields.get("overall"))


class EpochBar(Bar):
    """The `progress=` callback of a training: one bar, or one line, per epoch."""

    def __call__(self, stage: str, done: int, total: int, note: str) -> None:
        """One step of an epoch; the dev score is the news at its end."""
        self._show(stage, done, total, note, is_news="dev" in note)


class News(logging.Handler):
    """Shows what a part says while it does something long, such as training a translator; what was
    said of a file is not said again when it is read again.
    """

    def __init__(self) -> None:
        super().__init__()
        self._said: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        """One line, through the bar where there is one."""
        message = record.getMessage()
        if message not in self._said:
            self._said.add(message)
            print_text(message, is_error=True)

    @classmethod
    def show(cls) -> None:
        """Print such news from now on."""
        logger = logging.getLogger("disorder")
        logger.setLevel(logging.INFO)
        if not any(isinstance(handler, cls) for handler in logger.handlers):
            logger.addHandler(cls())
