"""Terminal output of `disorder sanity`: one line per verdict, then what was not done and why."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from disorder.report.number_text import with_interval
from disorder.verbs.sanity.result import Sanity, Verdict

STYLES = {"needed": "bold green", "open": "bold yellow", "unsure": "dim"}  # by kind of answer
CLASSES = "word classes"


def show(result: Sanity, console: Console, *, folder: str | None = None) -> None:
    """Print a result, and where its report is."""
    console.print()
    console.print(Text(result.headline, style="bold"))
    console.print(Text(f"\n{result.about}", style="dim"))
    console.print(Text(result.design[:1].upper() + result.design[1:], style="dim"))
    if result.original:
        console.print(Text(_original_line(result), style="dim"))
    if result.verdicts:
        console.print(_verdict_table(result))
    for section in result.sections:
        if section.found is None:
            console.print(Text(f"{section.name}: not done, {section.reason}"))
    check_notes = [note for found in result.results for note in found.notes]
    for note in [*result.notes, *check_notes]:
        console.print(Text(note, style="dim"))
    if folder:
        console.print(Text(f"\nReport: {folder}/report.html", style="bold"), soft_wrap=True)
        card = f"Dataset card: {folder}/card.md   ({result.seconds:.0f} s)"
        console.print(Text(card), soft_wrap=True)


def _original_line(result: Sanity) -> str:
    metric = "balanced accuracy (every label counts the same)"
    if result.metric == "spearman":
        metric = "Spearman"
    score = "" if result.original is None else with_interval(result.original)
    return (
        f"original texts: {metric} {score}, chance {result.chance:.3f}; "
        "costs are in points below that"
    )


def _verdict_table(result: Sanity) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("question", overflow="fold")
    table.add_column("answer", no_wrap=True)
    table.add_column("why", overflow="fold")
    is_class = False
    for verdict in result.verdicts:
        is_class = is_class and verdict.question.isupper()
        table.add_row(
            Text(_question(verdict, is_indented=is_class or verdict.group != "all")),
            Text(verdict.answer, style=STYLES.get(verdict.kind, "")),
            Text(verdict.because),
        )
        is_class = is_class or verdict.question == CLASSES
    return table


def _question(verdict: Verdict, *, is_indented: bool) -> str:
    where = "" if verdict.group == "all" else f", {verdict.group}"
    indent = "  " if is_indented else ""
    return f"{indent}{verdict.question}{where}"
