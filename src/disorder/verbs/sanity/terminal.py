"""What does a person at a terminal see? A verdict a line, each with its number; then what could not
be done, and why.
"""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from disorder.verbs.sanity.folder import about, headline
from disorder.verbs.sanity.result import Sanity, Verdict, said

STYLES = {
    "needed": "bold green",
    "not needed": "bold yellow",
    "gives away": "bold yellow",
    "does as well": "bold yellow",
    "found": "bold yellow",
    "undecided": "dim",
}
CLASSES = "word classes"


def show(result: Sanity, console: Console, *, folder: str | None = None) -> None:
    """Print a finished audit."""
    console.print()
    console.print(Text(headline(result), style="bold"))
    console.print(Text(f"\n{about(result)}", style="dim"))
    console.print(Text(result.design[:1].upper() + result.design[1:], style="dim"))
    if result.whole:
        named = (
            "Spearman"
            if result.metric == "spearman"
            else "balanced accuracy (every label counts the same)"
        )
        line = f"original texts: {named} {said(result.whole)}, chance {result.chance:.3f}; costs are in points below that"
        console.print(Text(line, style="dim"))
    if result.verdicts:
        console.print(_verdicts(result))
    for section in result.sections:
        if section.found is None:
            console.print(Text(f"{section.name}: not done, {section.reason}"))
    for note in [
        *result.notes,
        *(note for s in result.sections if s.found for note in s.found.notes),
    ]:
        console.print(Text(note, style="dim"))
    if folder:
        console.print(Text(f"\nReport: {folder}/report.html", style="bold"), soft_wrap=True)
        console.print(
            Text(f"Dataset card: {folder}/card.md   ({result.seconds:.0f} s)"), soft_wrap=True
        )


def _verdicts(result: Sanity) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("question", overflow="fold")
    table.add_column("answer", no_wrap=True)
    table.add_column("why", overflow="fold")
    is_class = False
    for verdict in result.verdicts:
        is_class = verdict.question == CLASSES or (is_class and verdict.question.isupper())
        table.add_row(
            Text(_question(verdict, is_class)),
            Text(verdict.answer, style=STYLES.get(verdict.answer, "")),
            Text(verdict.because),
        )
    return table


def _question(verdict: Verdict, is_class: bool) -> str:
    where = "" if verdict.group == "all" else f", {verdict.group}"
    return f"{'  ' if (is_class and verdict.question != CLASSES) or where else ''}{verdict.question}{where}"
