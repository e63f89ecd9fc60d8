"""`disorder report`: a finished run again: in a terminal, as a page, for a paper or a card."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from disorder.cli import options as o
from disorder.errors import DisorderError

if TYPE_CHECKING:
    from disorder.runs import Run

Latex = Annotated[bool, o.option("Print the scores as a LaTeX table (booktabs)", "--latex")]
Methods = Annotated[
    bool, o.option("Print the sentence for a methods section, and its BibTeX", "--methods")
]
Figure = Annotated[
    list[Path] | None,
    o.option(
        "Write a picture: NAME.pdf, .svg or .png, where NAME is forest, omega_curve, acceptance, "
        "confidence or reliability; can be repeated"
    ),
]
Card = Annotated[
    bool,
    o.option(
        "Print a section for a Hugging Face model card; for data of the hub, also write "
        "RUN/.eval_results/disorder.yaml",
        "--card",
    ),
]
Metric = Annotated[list[str] | None, o.option("Column of --latex; can be repeated")]
Rows = Annotated[list[str] | None, o.option("Row of --latex; can be repeated", "--with")]
Group = Annotated[str, o.option("Group of examples for --latex")]
Intervals = Annotated[
    bool, o.option("Intervals behind the numbers of --latex", "--intervals/--no-intervals")
]


def report(
    run: Annotated[
        str, typer.Argument(help="Folder of a run or a study, or its address on shared storage")
    ],
    latex: Latex = False,
    metric: Metric = None,
    with_: Rows = None,
    group: Group = "all",
    intervals: Intervals = True,
    methods: Methods = False,
    figure: Figure = None,
    card: Card = False,
) -> None:
    """Show RUN again and redraw its report.html; or print it for a paper or a model card.

    --latex also takes the folder of a study.
    """
    from disorder.runs import place, read_run

    folder = place(run)
    if (folder / "study.json").is_file():
        _study(folder, latex=latex)
        return
    found = read_run(folder)
    found.check_done()
    if (metric or with_ or group != "all" or not intervals) and not latex:
        raise DisorderError("--metric, --with, --group and --no-intervals are for --latex")
    for path in figure or ():
        _draw(found, path)
    if latex:
        from disorder.report.latex import run_table

        table = run_table(
            found,
            metrics=metric or (),
            transformations=with_ or (),
            group=group,
            has_intervals=intervals,
        )
        sys.stdout.write(str(table))
    if methods:
        from disorder.report.citations import methods as for_methods

        sys.stdout.write(("\n" if latex else "") + for_methods(found))
    if card:
        _print_card(folder, found)
    if not (latex or methods or figure or card):
        from rich.console import Console

        from disorder.report.page import write_report
        from disorder.report.terminal import show

        write_report(folder, found)
        show(found, Console(), folder=str(run))


def _print_card(folder: Path, run: Run) -> None:
    """The card on standard output, results for the hub in a file."""
    from disorder.report.model_card import eval_results, model_card
    from disorder.runs.storage import write_atomically

    sys.stdout.write(model_card(run))
    results = eval_results(run)
    if results is None:
        typer.echo(f"No .eval_results: {run.data} is no dataset of the Hugging Face hub", err=True)
        return
    path = folder / ".eval_results" / "disorder.yaml"
    path.parent.mkdir(exist_ok=True)
    write_atomically(path, results.encode())
    typer.echo(f"Results for the hub: {path}", err=True)


def _study(folder: Path, *, latex: bool) -> None:
    """A finished study again."""
    from disorder.verbs.study import latex_table, read_study

    found = read_study(folder)
    if latex:
        sys.stdout.write(str(latex_table(found)))
        return
    from rich.console import Console

    from disorder.cli.study import show

    show(found, Console(), folder)


def _draw(run: Run, path: Path) -> None:
    """Write the picture that a file is named for."""
    from disorder.report.display import run_picture

    run_picture(run, path.stem).save(path)
    typer.echo(f"Picture: {path}", err=True)
