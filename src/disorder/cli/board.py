"""`disorder board`: many runs on one page, to put on a web server or an intranet."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from disorder.cli import options as o
from disorder.cli.output import print_text


def board(
    runs: Annotated[
        list[Path], typer.Argument(help="Run folders, or folders that have run folders in them")
    ],
    out: Annotated[Path, o.option("Folder of the page; its reports lie beside it")] = Path("board"),
    title: Annotated[str, o.option("What the page is called")] = "Word order board",
    score: Annotated[
        list[str] | None,
        o.option("Show this metric too, e.g. p_c or one of a plugin; can be repeated"),
    ] = None,
) -> None:
    """Rank the models of RUNS on each dataset by the skill they keep: one page, no server needed.

    The page sorts and filters itself, links to a report of each run, and loads nothing from
    elsewhere.
    """
    from disorder.verbs.board import board as make

    made = make(*runs, out=out, title=title, score=score or ())
    n_models = len({row.model for row in made.rows})
    n_data = len({row.data for row in made.rows})
    print_text(f"{len(made.rows)} runs of {n_models} models on {n_data} datasets")
    print_text(f"Page: {out}/index.html")
