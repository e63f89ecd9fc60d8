"""Runs side by side. `disorder compare`: how do models differ on the same permutations?
`disorder board`: many runs on one page, to put on a web server or an intranet.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from disorder.cli.folders import write
from disorder.cli.output import print_json, print_text, show
from disorder.requests.runs import BoardOptions, BoardOutput, CompareOptions, CompareOutput


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
    from disorder.results.comparison import result_of
    from disorder.results.render import render
    from disorder.verbs.compare import compare as start

    found = start(*runs, base=output["base"], **options)
    result = result_of(found, every_row=output["every_row"])
    html = output["html"]
    if html:
        write("--html", Path(html), render(found.result, "page"))
    if output["as_json"]:
        print_json(result.as_data())
    elif output["latex"]:
        print_text(render(result, "latex"), end="")
    else:
        show(result, [f"Page: {html}"] if html else [])


def board(
    runs: Annotated[
        list[Path], typer.Argument(help="Run folders, or folders that have run folders in them")
    ],
    *,
    options: BoardOptions,
    output: BoardOutput,
) -> None:
    """Rank the models of RUNS on each dataset by the skill they keep: one page, no server needed.

    The page sorts and filters itself, links to a report of each run, and loads nothing from
    elsewhere.
    """
    from disorder.verbs.board import board as make

    made = make(*runs, out=output["out"], **options)
    show(made.result, [f"Page: {output['out']}/index.html"])
