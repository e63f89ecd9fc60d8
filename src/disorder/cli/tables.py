"""Tables of several trainings: the same on a terminal and as Markdown in their folder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from disorder.results.result import Grid


def markdown(grids: Sequence[Grid], note: str) -> str:
    """Tables under their captions, and what their numbers mean."""
    from disorder.results.render import markdown_table

    lines = [
        line for grid in grids for line in (f"## {grid.caption}", "", *markdown_table(grid), "")
    ]
    return "\n".join([*lines, note]) + "\n"


def as_json(results: Sequence[Any], *, indent: int | None = None) -> str:
    """A list of dataclasses as JSON, with a final line break."""
    return json.dumps([asdict(result) for result in results], indent=indent) + "\n"


def print_line(console: Console, text: str, *, style: str | None = None) -> None:
    """A line as it is: specs and folders are neither coloured nor broken."""
    console.print(text, style=style, highlight=False, markup=False, soft_wrap=True)


def with_interval(value: float, low: float, high: float) -> str:
    """A number with its interval.

    >>> with_interval(0.5, 0.25, 0.75)
    '0.500 (0.250 to 0.750)'
    """
    return f"{value:.3f} ({low:.3f} to {high:.3f})"


def signed(value: float) -> str:
    """A difference with its sign, a true minus where it is negative.

    >>> signed(-0.5), signed(0.25)
    ('−0.500', '+0.250')
    """
    return f"{value:+.3f}".replace("-", "−")


def seeds_text(n: int) -> str:
    """What a number is the mean of."""
    return f"Mean over {n} seeds" if n > 1 else "One seed"
