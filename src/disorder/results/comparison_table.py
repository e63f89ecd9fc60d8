"""A comparison of runs in words and tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from disorder.results.comparison import ALPHA, Comparison, ComparisonConclusion, Difference
from disorder.results.conclusion import PAGE, loss
from disorder.results.grid import Cell, Column, Grid, as_latex
from disorder.results.markup import latex_code, latex_label
from disorder.results.run_tables import text_name
from disorder.results.terminal import print_table
from disorder.results.writing import MINUS, place_of, title_of
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
    if found.skill_kept is not None and why:
        order = f"{why[:1].upper()}{why[1:]}"  # neither more nor less
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
            "the conclusion rests on the main tests, skill kept and accuracy on original texts; "
            f"how conclusions are drawn: {PAGE}"
        )
    used = dict.fromkeys(d.test for d in comparison.differences)
    lines += [f"{name}: {TESTS[name]}" for name in used if name in TESTS]
    if comparison.differences:
        lines.append(
            f"p_holm: p after Holm's correction for {families(comparison)}; * below {ALPHA}"
        )
    lines += [
        f"not compared: {o.metric}, {where(o.transformation)}, {o.group} ({o.reason})"
        for o in comparison.omitted
    ]
    return lines + comparison.notes


def families(comparison: Comparison) -> str:
    """The families of tests that p-values are corrected for, with their sizes."""
    sizes = Counter(d.family for d in comparison.differences)
    if sizes["all"]:
        return f"all {sizes['all']} tests" if sizes["all"] > 1 else "one test"
    main = f"the {sizes['main']} main tests (skill kept, accuracy on original texts)"
    return (
        f"{main}, and apart from them for the {sizes['other']} others" if sizes["other"] else main
    )


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
        rows = list(differences) if every_row else rows_that_matter(comparison, differences)
        print_table(console, short_grid(rows, f"{other} minus {base}{only}"))
        if len(rows) < len(differences):
            hidden = len(differences) - len(rows)
            console.print(Text(f"{hidden} more rows: --all shows them", style="dim"))
    console.print()
    if comparison.conclusions:
        console.print(Text(counted(comparison), style="dim"))
    for line in footnotes(comparison):
        console.print(Text(visible(line), style="dim"))


def short_grid(differences: Sequence[Difference], caption: str = "") -> Grid:
    """One row per score, under a row with the transformation, where space is short."""
    names = ("n", "base", "other", "difference", "p_holm")
    rows: list[list[Cell]] = []
    before = ""
    for d in differences:
        if d.transformation != before:
            place = Cell(visible(where(d.transformation)), mark="strong")
            rows.append([place, *[Cell()] * len(names)])
        before = d.transformation
        n, base, other, change, p = _cells(d)
        p = Cell(p.text if d.is_sure else f"{p.text} ")
        rows.append([Cell(visible(title_of(d.metric)), mark="part"), n, base, other, change, p])
    return Grid([Column("", "name"), *map(Column, names)], rows, caption)


def difference_grid(
    differences: Sequence[Difference], base: str, other: str, caption: str = ""
) -> Grid:
    """One row per score; with a caption, which pages have, also the test."""
    heads = ["n", base, other, "difference", "p (Holm)"]
    columns = [Column("texts", "name"), Column("score", "word"), *map(Column, heads)]
    rows = [
        [text_name(d.transformation), Cell(title_of(d.metric)), *_cells(d, "*" if caption else "")]
        for d in differences
    ]
    if caption:
        columns.append(Column("test", "word"))
        rows = [[*row, Cell(d.test)] for row, d in zip(rows, differences, strict=True)]
    return Grid(columns, rows, caption)


def _cells(d: Difference, star: str = "*") -> list[Cell]:
    """How many examples, both values, the difference and its p-value, which a star may mark."""
    mark = "strong" if d.is_sure else ""
    change = Cell(signed(d.difference), f"[{signed(d.low, 2)}, {signed(d.high, 2)}]", mark)
    p = Cell(f"{shown_p(d.p_holm)}{star if d.is_sure else ''}")
    return [
        Cell(f"{d.n:,}"),
        Cell(f"{d.base_value:.3f}"),
        Cell(f"{d.other_value:.3f}"),
        change,
        p,
    ]


def latex_tables(comparison: Comparison) -> str:
    """One table for a paper per pair of runs and group."""
    tables = []
    for base, other, group, differences in comparison.pairs:
        only = "" if group == "all" else f", only {latex_code(group)}"
        caption = (
            f"{latex_code(other)} minus {latex_code(base)} on {latex_code(comparison.data)}{only}: "
            f"paired differences on the same {comparison.n_examples:,} examples and permutations, "
            "with 95\\,\\% intervals; bold where significant at 0.05 after Holm's correction."
        )
        grid = difference_grid(differences, "base", "other")
        tables.append(as_latex(grid, caption, latex_label(base, other, group)))
    return "\n".join(tables)
