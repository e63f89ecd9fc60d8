"""Progress in a notebook: one bar per stage, in the cell that runs; nothing elsewhere.

Our own forty lines, because the bars of rich and tqdm need ipywidgets, which few notebooks have.
"""

from __future__ import annotations

import sys
import time
from html import escape
from typing import Any

from disorder.steps import stage_text
from disorder.types import Progress

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
