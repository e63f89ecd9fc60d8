"""Tables of a comparison: the same rows on a terminal and as Markdown in its folder."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

TableRows = list[list[str]]  # the first is the heading


def terminal(rows: TableRows, title: str | None = None) -> Table:
    """Rows as a table for a terminal."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Column, Table
    from rich.text import Text

    heads = [Column(name, overflow="fold") for name in rows[0]]  # a spec is never cut short
    table = Table(*heads, title=title, title_justify="left", box=SIMPLE_HEAD)
    for row in rows[1:]:
        table.add_row(*map(Text, row))  # a spec may hold brackets
    return table


def markdown(tables: Mapping[str, TableRows], note: str) -> str:
    """Tables under their titles, and what their numbers mean."""
    lines: list[str] = []
    for title, (head, *rows) in tables.items():
        lines += [f"## {title}", "", f"| {' | '.join(head)} |", "|" + " --- |" * len(head)]
        lines += [f"| {' | '.join(row)} |" for row in rows]
        lines.append("")
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
