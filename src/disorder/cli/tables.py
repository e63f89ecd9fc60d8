"""How does a comparison show its tables? The same rows on a terminal and as Markdown in its folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

Rows = list[list[str]]  # the first is the heading


def terminal(rows: Rows, title: str | None = None) -> Table:
    """Rows for a terminal."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Column, Table
    from rich.text import Text

    heads = [Column(name, overflow="fold") for name in rows[0]]  # a spec is never cut short
    table = Table(*heads, title=title, title_justify="left", box=SIMPLE_HEAD)
    for row in rows[1:]:
        table.add_row(*map(Text, row))  # a spec may hold brackets
    return table


def markdown(tables: dict[str, Rows], note: str) -> str:
    """Tables under their titles, and what their numbers mean."""
    lines: list[str] = []
    for title, (head, *rows) in tables.items():
        lines += [f"## {title}", "", f"| {' | '.join(head)} |", "|" + " --- |" * len(head)]
        lines += [f"| {' | '.join(row)} |" for row in rows] + [""]
    return "\n".join([*lines, note]) + "\n"


def signed(value: float) -> str:
    """A difference with its sign, a true minus among them."""
    return f"{value:+.3f}".replace("-", "−")


def seeds_text(n: int) -> str:
    """What a mean is over."""
    return f"Mean over {n} seeds" if n > 1 else "One seed"
