"""A comparison of runs in the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from disorder.report.metric_names import title_of
from disorder.report.page import visible
from disorder.runs.comparison import ALPHA, Comparison, Difference

TESTS = {
    "mcnemar": "exact McNemar test, Newcombe's interval (method 10)",
    "sign-flip": "sign-flip test over examples, paired bootstrap interval",
    "bootstrap": "paired bootstrap over examples",
}


def headline(comparison: Comparison) -> str:
    """What was found, in one sentence."""
    n, sure = len(comparison.differences), sum(d.is_sure for d in comparison.differences)
    if not n:
        return "No score could be compared."
    count = "None" if not sure else str(sure)
    return f"{count} of {n} differences {'are' if sure > 1 else 'is'} sure at {ALPHA} after Holm's correction."


def about(comparison: Comparison) -> str:
    """What was compared, in one line."""
    c, names = comparison, " and ".join(run.name for run in comparison.runs)
    return f"{names} on {c.data}: {c.n_examples:,} examples, the same permutations (seed {c.audit_seed})"


def footnotes(comparison: Comparison) -> list[str]:
    """How it was tested, and what could not be."""
    used = dict.fromkeys(d.test for d in comparison.differences)
    lines = [f"{name}: {TESTS[name]}" for name in used if name in TESTS]
    if comparison.differences:
        lines.append(
            f"p_holm: p after Holm's correction for all {len(comparison.differences)} tests; * below {ALPHA}"
        )
    lines += [
        f"not compared: {o.metric}, {where(o.transformation)}, {o.group} ({o.reason})"
        for o in comparison.omitted
    ]
    return lines + comparison.notes


def where(transformation: str) -> str:
    """A transformation as it is shown."""
    return "original texts" if transformation == "original" else transformation


def signed(value: float, digits: int = 3) -> str:
    """A difference with its sign, and a real minus."""
    return f"{value:+.{digits}f}".replace("-", "−") if round(value, digits) else f"{0:.{digits}f}"


def shown_p(p: float) -> str:
    """A p-value, no more exact than one can believe."""
    return (
        "<.0001"
        if p < 0.0001
        else f"{p:.4f}".replace("0.", ".", 1)
        if p < 0.1
        else f"{p:.2f}".replace("0.", ".", 1)
    )


def show_comparison(comparison: Comparison, console: Console) -> None:
    """Print a comparison."""
    console.print(Text(f"\n{headline(comparison)}", style="bold"))
    console.print(Text(visible(about(comparison)), style="dim"))
    for base, other, group, differences in comparison.pairs:
        title = f"\n{visible(other)} minus {visible(base)}{'' if group == 'all' else f', only {visible(group)}'}"
        console.print(Text(title, style="bold"))
        console.print(_table(differences))
    for line in footnotes(comparison):
        console.print(Text(visible(line), style="dim"))


def _table(differences: list[Difference]) -> Table:
    """A row a score, under a line with the transformation."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("", overflow="fold")
    for name in ("n", "base", "other", "difference", "p_holm"):
        table.add_column(name, justify="right", no_wrap=True)
    before = ""
    for d in differences:
        if d.transformation != before:
            table.add_row(Text(visible(where(d.transformation)), style="bold"))
        before = d.transformation
        table.add_row(Text(f"  {visible(title_of(d.metric))}"), *_cells(d))
    return table


def _cells(d: Difference) -> Iterator[Text]:
    yield Text(f"{d.n:,}")
    yield Text(f"{d.base_value:.3f}")
    yield Text(f"{d.other_value:.3f}")
    yield Text(
        f"{signed(d.difference)} [{signed(d.low, 2)}, {signed(d.high, 2)}]",
        style="bold" if d.is_sure else "",
    )
    yield Text(f"{shown_p(d.p_holm)}{'*' if d.is_sure else ' '}")
