"""What does a person at a terminal see? The verdict first, then one table."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from disorder.report.run import Record, Run

COLUMNS = {
    "accuracy": "accuracy",
    "agreement": "same\nanswer",
    "wos": "WOS",
    "p_c": "P_c",
    "p_f": "P_f",
    "omega_max": "Ω_max",
    "omega_rand": "Ω_rand",
    "confidence": "confi-\ndence",
    "spearman": "Spearman",
}
KEY = (
    "same answer: as on the whole text · WOS: 0 = order ignored, 1 = falls to chance · P_c, P_f: permutations that get the "
    "gold label, of examples first answered right, wrong · Ω_max, Ω_rand: examples with one such permutation, with more than "
    "chance. Below each number its 95 % interval."
)


def show(run: Run, console: Console, *, folder: str | None = None) -> None:
    """Print a finished run."""
    console.print()
    first, *rest = run.verdict.split("\n")
    console.print(Text(first, style="bold"))
    for line in rest:
        console.print(Text(f"  {line}"))
    console.print(Text(f"\n{run.model} on {run.data}: {run.n_examples:,} examples, q = {run.settings['q']}, seed {run.seed}"))
    console.print(_table(run, "all"))
    for group in run.groups:
        console.print(_table(run, group, title=f"only {group}"))
    console.print(Text(KEY, style="dim"))
    for line in left_out(run):
        console.print(Text(line))
    if folder:
        console.print(Text(f"\nReport: {folder}/report.html", style="bold"), soft_wrap=True)


def _table(run: Run, group: str, title: str | None = None) -> Table:
    present = [m for m in COLUMNS if any(r.metric == m and r.group == group for r in run.scores)]
    table = Table(title=title, title_justify="left", pad_edge=False, show_edge=False)
    table.add_column("", no_wrap=False)
    table.add_column("n", justify="right")
    for metric in present:
        table.add_column(COLUMNS[metric], justify="right")
    for name in ["original", *run.transformations]:
        records = {r.metric: r for r in run.scores if r.transformation == name and r.group == group}
        if records:
            n = records.get("accuracy", next(iter(records.values()))).n
            table.add_row(escape(name), f"{n:,}", *[_cell(records.get(metric)) for metric in present])
    for name, records_ in run.references.items() if group == "all" else ():
        mine = {r.metric: r for r in records_ if r.transformation == run.transformations[0]}
        cells = [f"{mine[metric].value:.2f}" if metric in mine else "" for metric in present]
        table.add_row(Text(f"Model {name}", style="dim"), "", *[Text(cell, style="dim") for cell in cells])
    return table


def _cell(record: Record | None) -> str:
    if record is None:
        return ""
    return f"{record.value:.3f}\n[dim]{_short(record.low)}–{_short(record.high)}[/dim]"


def _short(bound: float) -> str:
    return f"{bound:.2f}".replace("0.", ".", 1) if 0 <= bound < 1 else f"{bound:.2f}"


def left_out(run: Run) -> Sequence[str]:
    """One line for each reason why examples were left out."""
    return [
        f"left out of {name}: {count:,} ({reason})"
        for name, reasons in run.skips.items()
        for reason, count in sorted(reasons.items(), key=lambda item: -item[1])
    ]
