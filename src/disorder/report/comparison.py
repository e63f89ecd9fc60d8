"""A comparison of runs in the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from disorder.report.conclusions import PAGE, loss
from disorder.report.metric_names import place_of, title_of
from disorder.report.number_text import MINUS
from disorder.runs.comparison import ALPHA, Comparison, ComparisonConclusion, Difference
from disorder.visible_text import one_line, visible

ORDER = {
    "lower": "{other} uses word order more than {base}",
    "higher": "{other} uses word order less than {base}",
    "same": "{other} and {base} use word order alike",
    "undecided": "Which of {other} and {base} uses word order more is undecided",
}
NOT_COMPARED = "Which of {other} and {base} uses word order more cannot be said"
ACCURACY = {
    "higher": "{title} is higher",
    "lower": "{title} is lower",
    "same": "{title} is the same",
    "undecided": "no difference of {title} was found",
}
TESTS = {
    "mcnemar": "exact McNemar test, Newcombe's interval (method 10)",
    "sign-flip": "sign-flip test over examples, paired bootstrap interval",
    "bootstrap": "paired bootstrap over examples",
    "fieller": "Fieller's intervals of both ratios, combined after Zou and Donner; p is that of "
    "the widest interval that leaves 0 out",
}


def headline(comparison: Comparison) -> str:
    """What was found, in a sentence or two."""
    if not comparison.conclusions:
        return counted(comparison)
    return "\n".join(map(sentence, comparison.conclusions))


def sentence(found: ComparisonConclusion) -> str:
    """One conclusion in words, about the other run."""
    of = f" (only {one_line(found.group)})" if found.group != "all" else ""
    words = NOT_COMPARED if found.skill_kept is None else ORDER[found.order]
    order = words.format(other=one_line(found.other), base=one_line(found.base))
    why = one_line(found.because)
    if found.skill_kept is not None:
        why = (
            f"skill kept {_with_interval(found.skill_kept)} {one_line(loss(found.transformation))}"
        )
    title = title_of(found.original.metric)
    accuracy = ACCURACY[found.accuracy].format(title=title)
    return f"{order}{of}: {why}; {accuracy} ({_with_interval(found.original)})."


def _with_interval(d: Difference) -> str:
    return f"{signed(d.difference, 2)} [{signed(d.low, 2)}, {signed(d.high, 2)}]"


def counted(comparison: Comparison) -> str:
    """How many differences are significant."""
    n = len(comparison.differences)
    if not n:
        return "No score could be compared."
    significant = sum(d.is_sure for d in comparison.differences)
    count = str(significant) if significant else "None"
    verb = "are" if significant > 1 else "is"
    return f"{count} of {n} differences {verb} significant at {ALPHA} after Holm's correction."


def rows_that_matter(comparison: Comparison, differences: Sequence[Difference]) -> list[Difference]:
    """The main scores on original texts and under the transformation of the conclusion; all, where
    the user named what to compare.
    """
    if comparison.has_chosen or not comparison.conclusions:
        return list(differences)
    places = ("original", comparison.main)
    return [d for d in differences if d.transformation in places and place_of(d.metric) == "table"]


def about(comparison: Comparison) -> str:
    """What was compared, in one line."""
    names = " and ".join(run.name for run in comparison.runs)
    return (
        f"{names} on {comparison.data}: {comparison.n_examples:,} examples, "
        f"the same permutations (seed {comparison.audit_seed})"
    )


def footnotes(comparison: Comparison) -> list[str]:
    """How it was tested, and what could not be."""
    lines = []
    if comparison.conclusions:
        lines.append(
            "the conclusion: skill kept and accuracy on original texts, with Holm's correction for "
            f"these two; how conclusions are drawn: {PAGE}"
        )
    used = dict.fromkeys(d.test for d in comparison.differences)
    lines += [f"{name}: {TESTS[name]}" for name in used if name in TESTS]
    if comparison.differences:
        n = len(comparison.differences)
        lines.append(f"p_holm: p after Holm's correction for all {n} tests; * below {ALPHA}")
    lines += [
        f"not compared: {o.metric}, {where(o.transformation)}, {o.group} ({o.reason})"
        for o in comparison.omitted
    ]
    return lines + comparison.notes


def where(transformation: str) -> str:
    """A transformation as it is shown."""
    return "original texts" if transformation == "original" else transformation


def signed(value: float, digits: int = 3) -> str:
    """A difference with its sign, and a true minus; 0 has none."""
    if not round(value, digits):
        return f"{0:.{digits}f}"
    return f"{value:+.{digits}f}".replace("-", MINUS)


def shown_p(p: float) -> str:
    """A p-value, no more exact than one can believe."""
    if p < 0.0001:
        return "<.0001"
    digits = 4 if p < 0.1 else 2
    return f"{p:.{digits}f}".replace("0.", ".", 1)


def show_comparison(comparison: Comparison, console: Console, *, every_row: bool = False) -> None:
    """Print a comparison: the conclusion, then the rows that matter, or every row."""
    console.print(Text(f"\n{visible(headline(comparison))}", style="bold"))
    console.print(Text(visible(about(comparison)), style="dim"))
    for base, other, group, differences in comparison.pairs:
        only = "" if group == "all" else f", only {group}"
        title = visible(f"{other} minus {base}{only}")
        console.print(Text(f"\n{title}", style="bold"))
        rows = list(differences) if every_row else rows_that_matter(comparison, differences)
        console.print(_table(rows))
        if len(rows) < len(differences):
            hidden = len(differences) - len(rows)
            console.print(Text(f"{hidden} more rows: --all shows them", style="dim"))
    if comparison.conclusions:
        console.print(Text(counted(comparison), style="dim"))
    for line in footnotes(comparison):
        console.print(Text(visible(line), style="dim"))


def _table(differences: list[Difference]) -> Table:
    """One row per score, under a line with the transformation."""
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
    style = "bold" if d.is_sure else ""
    mark = "*" if d.is_sure else " "
    yield Text(f"{signed(d.difference)} [{signed(d.low, 2)}, {signed(d.high, 2)}]", style=style)
    yield Text(f"{shown_p(d.p_holm)}{mark}")
