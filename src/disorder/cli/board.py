"""`disorder board`: many runs on one page, to put on a web server or an intranet."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from disorder.cli.output import print_text
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
    n_models = len({row.model for row in made.rows})
    n_data = len({row.data for row in made.rows})
    print_text(f"{len(made.rows)} runs of {n_models} models on {n_data} datasets")
    print_text(f"Page: {output['out']}/index.html")
