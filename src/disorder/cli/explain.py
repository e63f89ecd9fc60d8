"""`disorder explain`: the command that shows what a model relies on instead of order."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from disorder.cli import options as o
from disorder.cli.output import console as new_console
from disorder.cli.output import print_json
from disorder.cli.resuming import resumable

if TYPE_CHECKING:
    from disorder.verbs.explain import Explanations, ExplanationSection

# options that are no settings of an explanation
OUTSIDE = ("model", "data", "out", "figure", "csv", "as_json")

ExplainBy = Annotated[
    list[str] | None,
    typer.Option("--by", help="Explanation, e.g. lime or minitree:r=1,k=2; can be repeated"),
]
ExplainBeside = Annotated[
    list[str] | None,
    typer.Option("--beside", help="Another model to show in the same pictures; can be repeated"),
]
ExplainWith = Annotated[
    str,
    typer.Option(
        "--with", help="Transformation that perturbs texts (Out of Order: shuffle_ngrams)"
    ),
]
ExplainLimit = Annotated[
    int, typer.Option(help="Look at this many examples, drawn at random by seed", min=1)
]
ExplainOut = Annotated[
    Path | None,
    typer.Option(help="Folder for page, figures and CSV (default: runs/DATE-MODEL-DATA)"),
]
FigureFile = Annotated[
    Path | None,
    typer.Option("--figure", help="Write the figure here (.svg, .png); of several, one file each"),
]
CsvFile = Annotated[
    Path | None,
    typer.Option("--csv", help="Write the data behind the figure here; of several, one file each"),
]
ExplainPrompt = Annotated[
    str | None,
    typer.Option(
        "--prompt", help="Prompt of a language model: a name (disorder list prompts) or a file"
    ),
]
ExplainJson = Annotated[
    bool,
    typer.Option("--json", help="Print the findings as JSON on standard output and nothing else"),
]


def explain(
    model: o.Model = "builtin",
    data: o.Data = None,
    by: ExplainBy = None,
    beside: ExplainBeside = None,
    with_: ExplainWith = "derange",
    q: o.Q = 100,
    seed: o.Seed = 0,
    limit: ExplainLimit = 500,
    out: ExplainOut = None,
    figure: FigureFile = None,
    csv: CsvFile = None,
    fidelity: o.Fidelity = "paper",
    short: o.Short = "skip",
    columns: o.Columns = "",
    labels: o.Labels = "",
    task: o.TaskName = None,
    language: o.Language = "auto",
    data_dir: o.DataDir = None,
    batch_size: o.BatchSize = None,
    precision: o.Precision = "fp32",
    cache: o.CacheFolder = None,
    prompt: ExplainPrompt = None,
    shots: o.Shots = 0,
    shots_from: o.ShotsFrom = None,
    label_words: o.LabelWords = "",
    option_orders: o.OptionOrders = 1,
    calibrate: o.Calibrate = None,
    chat: o.Chat = "auto",
    base_url: o.BaseUrl = None,
    answers: o.Answers = None,
    as_json: ExplainJson = False,
) -> None:
    """What does MODEL rely on instead of order when it predicts DATA?

    Figures that could go into a paper, each with the data behind it and a line that says what it
    shows. Without --by: those that need no more model calls than an audit; the others (words,
    heads, minimal pairs) are shown when named. Names and settings: disorder list explanations.
    """
    given = dict(locals())
    settings: dict[str, Any] = {name: v for name, v in given.items() if name not in OUTSIDE}
    from disorder.cli.progress import Bar
    from disorder.runs.unfinished import UNFINISHED
    from disorder.verbs import explain as verb

    if figure:
        verb.check_format(figure)
    settings["by"] = by or ()
    settings["beside"] = beside or ()
    settings["columns"] = o.mapping("--columns", columns)
    settings["labels"] = o.mapping("--labels", labels)
    is_folder_wanted = out is not None or not (figure or csv or as_json)
    folder = (out or o.new_folder(model, data or "builtin")) if is_folder_wanted else None
    with ExitStack() as stack:
        if folder is not None:
            stack.enter_context(resumable(folder, UNFINISHED))
        bar = stack.enter_context(Bar())
        found = verb.explain(model, data or "builtin", out=folder, progress=bar, **settings)
    written = _write(found, figure, csv, folder)
    if as_json:
        print_json(verb.as_json(found))
    else:
        _show(found, written)


def _write(
    found: Explanations, figure: Path | None, csv: Path | None, folder: Path | None
) -> list[Path]:
    """Write single files where they are wanted; gives the paths to show."""
    from disorder.verbs import explain as verb

    written = []
    if figure:
        written += verb.write_figures(figure, found)
    if csv:
        written += verb.write_csvs(csv, found)
    if folder is not None:
        written.append(folder / "explain.html")
    return written


def _show(found: Explanations, written: list[Path]) -> None:
    from rich.text import Text

    console = new_console(soft_wrap=True)
    console.print(Text(f"\n{found.about}", style="dim"))
    for line in found.notes:
        console.print(Text(line))
    for section in found.sections:
        console.print(Text(f"\n{section.spec}", style="bold"), Text(section.asks, style="dim"))
        for line in _lines(section):
            console.print(Text(f"  {line}"))
    console.print()
    for path in written:
        console.print(Text(f"Written: {path}", style="bold"))


def _lines(section: ExplanationSection) -> list[str]:
    if section.found is None:
        return [section.line]
    skips = [f"left out: {count:,} ({reason})" for reason, count in section.found.skips.items()]
    return [section.line, *section.found.notes, *skips]
