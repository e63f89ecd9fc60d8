"""`disorder explain`: what does this model rely on instead of order?"""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from disorder.cli import options as o

if TYPE_CHECKING:
    from disorder.verbs.explain import Explanations

By = Annotated[
    list[str] | None,
    typer.Option("--by", help="Explanation, e.g. lime or minitree:r=1,k=2; can be repeated"),
]
With = Annotated[
    str,
    typer.Option("--with", help="Transformation that breaks texts (Out of Order: shuffle_ngrams)"),
]
Limit = Annotated[
    int, typer.Option(help="Look at this many examples, drawn at random by seed", min=1)
]
Out = Annotated[
    Path | None,
    typer.Option(help="Folder for page, pictures and CSV (default: runs/DATE-MODEL-DATA)"),
]
FigureFile = Annotated[
    Path | None,
    typer.Option("--figure", help="Write the picture here (.svg, .png); several, a file each"),
]
CsvFile = Annotated[
    Path | None,
    typer.Option("--csv", help="Write the data behind the picture here; of several, a file each"),
]
Json = Annotated[
    bool,
    typer.Option("--json", help="Print the findings as JSON on standard output and nothing else"),
]


def explain(
    model: o.Model = "builtin",
    data: o.Data = None,
    by: By = None,
    with_: With = "derange",
    q: o.Q = 100,
    seed: o.Seed = 0,
    limit: Limit = 500,
    out: Out = None,
    figure: FigureFile = None,
    csv: CsvFile = None,
    fidelity: o.Fidelity = "paper",
    short: o.Short = "skip",
    columns: o.Columns = "",
    labels: o.Labels = "",
    task: o.TaskName = None,
    data_dir: o.DataDir = None,
    batch_size: o.BatchSize = None,
    precision: o.Precision = "fp32",
    cache: o.CacheFolder = None,
    as_json: Json = False,
) -> None:
    """What does MODEL rely on instead of order when it answers DATA?

    Pictures that could go into a paper, each with the data behind it and a line that says what it
    shows. Without --by: those that ask no more than an audit does; the others (words, heads,
    minimal pairs) are shown when named. Names and settings: disorder list explanations.
    """
    from disorder.cli.progress import Bar
    from disorder.verbs.explain import check_form, write_csvs, write_figures, write_folder
    from disorder.verbs.explain import explain as start

    if figure:
        check_form(figure)
    with Bar() as bar:
        found = start(
            model,
            data or "builtin",
            by=by or (),
            transformation=with_,
            progress=bar,
            q=q,
            seed=seed,
            limit=limit,
            fidelity=fidelity,
            short=short,
            columns=o.mapping("--columns", columns),
            labels=o.mapping("--labels", labels),
            task=task,
            data_dir=data_dir,
            batch_size=batch_size,
            precision=precision,
            cache=cache,
        )
    written = [
        *(write_figures(figure, found) if figure else []),
        *(write_csvs(csv, found) if csv else []),
    ]
    if out or not (written or as_json):
        folder = out or o.new_folder(model, data or "builtin")
        write_folder(folder, found, _command())
        written.append(folder / "explain.html")
    _show(found, written, as_json=as_json)


def _command() -> str:
    return shlex.join(["disorder", *sys.argv[1:]])


def _show(found: Explanations, written: list[Path], *, as_json: bool) -> None:
    from rich.console import Console
    from rich.text import Text

    from disorder.verbs.explain import about
    from disorder.verbs.explain import as_json as plain

    if as_json:
        sys.stdout.write(json.dumps(plain(found), ensure_ascii=False) + "\n")
        return
    console = Console(soft_wrap=True)
    console.print(Text(f"\n{about(found)}", style="dim"))
    for line in found.notes:
        console.print(Text(line))
    for section in found.sections:
        console.print(Text(f"\n{section.spec}", style="bold"), Text(section.asks, style="dim"))
        for line in _lines(section):
            console.print(Text(f"  {line}"))
    console.print()
    for path in written:
        console.print(Text(f"Written: {path}", style="bold"))


def _lines(section: Any) -> list[str]:
    if section.found is None:
        return [f"not shown: {section.reason}"]
    skips = [f"left out: {count:,} ({reason})" for reason, count in section.found.skips.items()]
    return [section.found.finding, *section.found.notes, *skips]
