"""`disorder report`: a finished run again: in a terminal, as a page, for a paper or a card."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from disorder.cli import options as o
from disorder.cli.output import print_text, show
from disorder.errors import DisorderError

if TYPE_CHECKING:
    from disorder.registry import VerbPart
    from disorder.results.run import Run

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
Examples = Annotated[
    Path | None,
    o.option(
        "Write every example, the most telling first, with its texts, gold answer and predictions: "
        "FILE.csv, .jsonl or .parquet"
    ),
]
Every = Annotated[bool, o.option("Show everything that was measured, not one screen", "--all")]
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
    examples: Examples = None,
    every: Every = False,
) -> None:
    """Show RUN again and redraw its report.html; or print it for a paper or a model card.

    --latex also takes the folder of a study.
    """
    from disorder.results.render import render
    from disorder.results.run_folder import read_run
    from disorder.store.storage import place

    folder = place(run)
    if card and (latex or methods):
        raise DisorderError(
            "--card prints a file of its own, which begins with its metadata; run it without "
            "--latex and --methods"
        )
    if verb := _verb_of(folder):
        if card or methods or figure or examples:
            raise DisorderError(
                "--card, --methods, --figure and --examples are for runs; "
                f"{folder} is a {verb.name}"
            )
        result = verb.folder_reader()(folder).result
        if latex:
            print_text(render(result, "latex"), end="")
        else:
            show(result, [f"Page: {folder}/report.html"])
        return
    found = read_run(folder)
    found.check_done()
    if (metric or with_ or group != "all" or not intervals) and not latex:
        raise DisorderError("--metric, --with, --group and --no-intervals are for --latex")
    for path in figure or ():
        _draw(found, path)
    if latex:
        from disorder.results.run_tables import paper_grid

        grid = paper_grid(
            found,
            metrics=metric or (),
            transformations=with_ or (),
            group=group,
            has_intervals=intervals,
        )
        print_text(render(replace(found.result, grids=[grid]), "latex"), end="")
    if methods:
        from disorder.results.citations import methods as for_methods

        print_text(("\n" if latex else "") + for_methods(found), end="")
    if card:
        _print_card(folder, found)
    if examples is not None:
        _write_examples(found, examples)
    if not (latex or methods or figure or card or examples):
        from disorder.cli.audit import show_run
        from disorder.results.run_folder import write_report

        write_report(folder, found)
        show_run(found, str(run), is_all=every)


def _print_card(folder: Path, run: Run) -> None:
    """The card on standard output, results for the hub in a file."""
    from disorder.results.model_card import card_result, eval_results
    from disorder.results.render import render
    from disorder.store.storage import check_no_links, make_folder, write_atomically

    print_text(render(card_result(run), "card"), end="")
    results = eval_results(run)
    if results is None:
        print_text(
            f"No .eval_results: {run.data} is no dataset of the Hugging Face hub", is_error=True
        )
        return
    path = folder / ".eval_results" / "disorder.yaml"
    check_no_links(folder)
    make_folder(path.parent)
    write_atomically(path, results.encode())
    print_text(f"Results for the hub: {path}", is_error=True)


def _write_examples(run: Run, path: Path) -> None:
    """The examples of a run in a file, whose ending says its format."""
    from disorder.results.row_export import table_bytes
    from disorder.store.storage import write_atomically

    table = run.examples
    write_atomically(path, table_bytes(table, path))
    print_text(f"{table.num_rows:,} examples: {path}", is_error=True)


def _verb_of(folder: Path) -> VerbPart | None:
    """The verb whose results a folder holds, where it can read them."""
    from disorder.registry import VerbPart, parts
    from disorder.results.run_folder import verb_of

    verb = parts(VerbPart).get(verb_of(folder))
    return verb if verb is not None and verb.reads else None


def _draw(run: Run, path: Path) -> None:
    """Write the picture that a file is named for."""
    run.plot(path.stem).save(path)
    print_text(f"Picture: {path}", is_error=True)
