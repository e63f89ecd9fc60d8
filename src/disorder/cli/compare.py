"""`disorder compare`: how do models differ on the same examples and the same permutations?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from disorder.cli.folders import write
from disorder.cli.output import console as new_console
from disorder.cli.output import print_json, print_text
from disorder.requests.runs import CompareOptions, CompareOutput


def compare(
    runs: Annotated[list[Path], typer.Argument(help="Run folders, two or more")],
    *,
    options: CompareOptions,
    output: CompareOutput,
) -> None:
    """How do RUNs differ on the same examples?

    Says first which uses word order more and which is more accurate, then shows the scores behind
    it. Runs on the same data, seed and settings share every permutation: differences are paired
    (McNemar, or a bootstrap and a sign-flip test over examples), with Holm's correction over all
    that is compared.
    """
    from disorder.results.comparison_table import show_comparison
    from disorder.results.render import page
    from disorder.verbs.compare import compare as start

    found = start(*runs, base=output["base"], **options)
    html = output["html"]
    if html:
        write("--html", Path(html), page(found.result, in_folder=False))
    if output["as_json"]:
        print_json(found.result.as_data())
        return
    if output["latex"]:
        from disorder.results.comparison_table import latex_tables

        print_text(latex_tables(found), end="")
        return
    console = new_console()
    show_comparison(found, console, every_row=output["every_row"])
    if html:
        console.print(f"\nPage: {html}", markup=False, highlight=False, soft_wrap=True)
