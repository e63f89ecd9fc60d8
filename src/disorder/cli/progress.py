"""Progress: a bar with a running score on a terminal, plain lines elsewhere, on standard error."""

from __future__ import annotations

import logging
import time

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

from disorder.cli.output import console, print_text

EVERY = 10.0  # seconds between plain lines


class Bar:
    """The `progress=` callback of an audit: shows how far it is."""

    def __init__(self) -> None:
        self.console = console(stderr=True)
        self._tasks: dict[str, TaskID] = {}
        self._last = time.monotonic()
        self._progress = Progress(
            TextColumn("{task.description:<22}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}"),
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
            if stage not in self._tasks:
                self._tasks[stage] = self._progress.add_task(stage, total=total, note="")
            fields = {"note": note} if note else {}
            self._progress.update(self._tasks[stage], completed=done, **fields)  # type: ignore[arg-type]
        elif is_news or time.monotonic() - self._last > EVERY:
            self._last = time.monotonic()
            self.console.print(
                f"{stage}: {done:,} of {total:,} {note}".rstrip(), highlight=False, markup=False
            )


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
