"""A result in the terminal: what was found, its first tables or its findings, and what to know."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from disorder.results.conclusion import capitalised
from disorder.results.result import Result, Section
from disorder.results.terminal_table import print_table


def show_result(result: Result, console: Console, written: Sequence[str] = ()) -> None:
    """Print a result, and lines that say where its files are."""
    console.print()
    console.print(Text(result.headline, style="bold"))
    for line in (f"\n{result.about}", *map(capitalised, result.lead)):
        console.print(Text(line, style="dim"))
    for grid in result.grids:
        print_table(console, grid)
    console.print()
    for line in result.notes:
        console.print(Text(line))
    for section in result.sections:
        if section.found is not None or section.reason:
            _show_section(section, console, is_told=bool(result.grids))
    for step in result.next_steps:
        console.print(Text(f"  {step.command}   {step.why}"), soft_wrap=True)
    if written:
        console.print()
    for line in written:
        console.print(Text(line, style="bold"), soft_wrap=True)


def _show_section(section: Section[Any], console: Console, *, is_told: bool) -> None:
    """What a part found; where a table tells it already, only its notes."""
    if not is_told:
        head = Text.assemble((f"\n{section.spec or section.name}", "bold"), " ", section.asks)
        console.print(head, soft_wrap=True)
        console.print(Text(f"  {section.line}"), soft_wrap=True)
    for note in section.notes:
        console.print(Text(note if is_told else f"  {note}", style="dim"), soft_wrap=True)
