"""`disorder compare`: how do models differ on the same examples and the same permutations?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from disorder.cli.files import write
from disorder.cli.output import console as new_console
from disorder.cli.output import print_json, print_text


def compare(
    runs: Annotated[list[Path], typer.Argument(help="Run folders, two or more")],
    metric: Annotated[
        list[str] | None, typer.Option(help="Compare this score only; can be repeated")
    ] = None,
    with_: Annotated[
        list[str] | None,
        typer.Option("--with", help="Compare under this transformation only; can be repeated"),
    ] = None,
    group: Annotated[
        list[str] | None, typer.Option(help="Compare in this group (default: all); can be repeated")
    ] = None,
    base: Annotated[
        Path | None,
        typer.Option(help="The run that the others are compared with (default: the first)"),
    ] = None,
    pairs: Annotated[
        str, typer.Option(help="base: each run with the base; all: each with each")
    ] = "base",
    seed: Annotated[int, typer.Option(help="Seed of the resampling")] = 0,
    every_row: Annotated[
        bool, typer.Option("--all", help="Show every row, not only those that matter most")
    ] = False,
    html: Annotated[Path | None, typer.Option(help="Write a self-contained page here")] = None,
    latex: Annotated[
        bool, typer.Option("--latex", help="Print LaTeX tables (booktabs) and nothing else")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the comparison as JSON and nothing else")
    ] = False,
) -> None:
    """How do RUNs differ on the same examples?

    Says first which uses word order more and which is more accurate, then shows the scores behind
    it. Runs on the same data, seed and settings share every permutation: differences are paired
    (McNemar, or a bootstrap and a sign-flip test over examples), with Holm's correction over all
    that is compared.
    """
    from disorder.report.comparison import show_comparison
    from disorder.report.comparison_page import page
    from disorder.verbs.compare import compare as start

    found = start(
        *runs,
        metrics=metric or (),
        with_=with_ or (),
        groups=group or ("all",),
        base=base,
        pairs=pairs,
        seed=seed,
    )
    if html:
        write("--html", html, page(found))
    if as_json:
        print_json(found.model_dump())
        return
    if latex:
        from disorder.report.latex import comparison_tables

        print_text("\n".join(map(str, comparison_tables(found))), end="")
        return
    console = new_console()
    show_comparison(found, console, every_row=every_row)
    if html:
        console.print(f"\nPage: {html}", markup=False, highlight=False, soft_wrap=True)
