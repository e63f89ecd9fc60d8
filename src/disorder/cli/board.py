"""`disorder board`: many runs on one page, to put on a web server or an intranet."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from disorder.cli.output import show
from disorder.requests.runs import BoardOptions, BoardOutput


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
