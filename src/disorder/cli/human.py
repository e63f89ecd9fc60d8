"""`disorder human`: make a blind task for people, collect answers, score them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from disorder.cli.commands import Commands
from disorder.cli.output import announce, print_data, print_json, print_text, show
from disorder.requests.human import HumanMakeOptions

if TYPE_CHECKING:
    from disorder.verbs.human.answer_store import Exported

app = Commands(rich_markup_mode=None)


@app.callback(invoke_without_command=True)
def _help(context: typer.Context) -> None:
    """Can people do what the model does? Make a blind task, collect answers, score them."""
    if context.invoked_subcommand is None:
        print_text(context.get_help())


Folder = Annotated[Path, typer.Argument(help="Task folder, as disorder human make writes it")]


@app.command()
def make(
    source: Annotated[
        str,
        typer.Argument(
            metavar="RUN|DATA", help="Run folder, or data spec: builtin, FILE.jsonl, mnli:matched"
        ),
    ],
    out: Annotated[Path, typer.Option(help="Task folder to write")],
    *,
    options: HumanMakeOptions,
) -> None:
    """Draw a blind, balanced sample from a run or from data.

    Each example is shown once. The key (gold labels, originals, the model's predictions) is in a
    file of its own, which is never served. The same seed draws the same sample; the links are new
    each time.
    """
    from disorder.verbs import human

    made = human.make(source, out, **options)
    show(made.result, [f"Read and edit before it is served: {out}/instructions.md"])


@app.command()
def serve(
    folder: Folder,
    host: Annotated[
        str, typer.Option(help="Address to listen on; 0.0.0.0 lets other machines in")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on; 0 takes a free one")] = 8766,
) -> None:
    """Serve the annotation page and print each annotator's personal link."""
    from disorder.web.annotation_app import serve_task

    serve_task(folder, announce, host=host, port=port)


@app.command()
def export(
    folder: Folder,
    out: Annotated[
        Path, typer.Option(help="File to write, .csv or .jsonl; - for CSV on standard output")
    ],
    what: Annotated[
        str, typer.Option(help="answers that count, items to show, or history with what was undone")
    ] = "answers",
) -> None:
    """Write answers, or the items for a crowd platform, to a file."""
    from disorder.verbs import human

    chosen = cast("Exported", what)
    if str(out) == "-":
        text, n = human.exported(folder, what=chosen)
        print_data(text)
    else:
        n = human.export(folder, out, what=chosen)
    rows = "answers, also those undone," if what == "history" else what
    target = "standard output" if str(out) == "-" else out
    print_text(f"{n:,} {rows} written to {target}", is_error=True)


@app.command("import")
def import_(
    folder: Folder,
    file: Annotated[
        Path,
        typer.Argument(help="CSV or JSONL with the columns item, annotator, answer (and seconds)"),
    ],
) -> None:
    """Import answers that were given elsewhere: all of a file, or none.

    Importing a file twice changes nothing.
    """
    from disorder.verbs import human

    n_new, n_known = human.import_answers(folder, file)
    known = f", {n_known:,} were there before" if n_known else ""
    print_text(f"{n_new:,} answers imported{known}")


@app.command()
def score(
    folder: Folder,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the scores as JSON and nothing else")
    ] = False,
) -> None:
    """Score the answers: accuracy, macro F1, majority, agreement, and the gap to the model."""
    from disorder.cli.progress import Bar
    from disorder.verbs import human

    with Bar() as bar:
        scores = human.score(folder, progress=bar)
    if as_json:
        print_json(scores.result.as_data())
    else:
        show(scores.result)
