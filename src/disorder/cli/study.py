"""`disorder study`: show me a paper's table for my model, with the published numbers beside ours."""

from __future__ import annotations

import json
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from disorder.cli import options as o
from disorder.cli.train import Device, Set, settings_of
from disorder.errors import DisorderError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from disorder.verbs.study import Item, Study

Name = Annotated[
    str | None,
    typer.Argument(metavar="PAPER/ITEM", help="Table or figure, e.g. unli/table2 (see --list)"),
]
Given = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="MODEL|DATA",
        help="Models, data, or finished runs (default: the paper's own models and data)",
    ),
]
ListAll = Annotated[
    bool, o._option("Show all items of the four papers, and what each needs", "--list")
]
As = Annotated[
    list[str] | None,
    o._option("Published model that MODEL stands for; repeat it for several, in order", "--as"),
]
StudyQ = Annotated[
    int | None, o._option("Permutations of each example (default: the paper's)", min=1)
]
Seeds = Annotated[int, o._option("Trainings of each model, for items that train", min=1)]
StudyLimit = Annotated[
    int | None, o._option("Examples to ask about (items that train: to train on), drawn at random")
]
TestLimit = Annotated[int | None, o._option("For items that train: ask about this many examples")]
Train = Annotated[
    str | None, o._option("Training data, for items that train (default: the paper's)")
]
Whose = Annotated[
    str | None, o._option("paper: as described; released: as the authors' code does", "--fidelity")
]
StudyOut = Annotated[
    Path | None,
    o._option("Folder of the study; one that was begun goes on (default: runs/DATE-study-ITEM)"),
]
StudyJson = Annotated[
    bool, o._option("Print study.json on standard output and nothing else", "--json")
]
OUTSIDE = ("name", "given", "list_all", "as_", "out", "as_json", "set_", "labels", "columns")


def study(
    name: Name = None,
    given: Given = None,
    list_all: ListAll = False,
    as_: As = None,
    q: StudyQ = None,
    seed: o.Seed = 0,
    seeds: Seeds = 1,
    limit: StudyLimit = None,
    test_limit: TestLimit = None,
    fidelity: Whose = None,
    set_: Set = None,
    train: Train = None,
    labels: o.Labels = "",
    columns: o.Columns = "",
    task: o.TaskName = None,
    data_dir: o.DataDir = None,
    batch_size: o.BatchSize = None,
    device: Device = None,
    cache: o.CacheFolder = None,
    out: StudyOut = None,
    as_json: StudyJson = False,
) -> None:
    """Make a table or figure of a paper again, for any MODEL and DATA, with the published numbers
    beside.

    A published number is compared with ours only where model and data are the same; others stand
    beside it with their names.
    """
    from rich.console import Console

    settings = {key: value for key, value in locals().items() if key not in (*OUTSIDE, "Console")}
    settings |= {
        "set": settings_of(set_),
        "labels": o.mapping("--labels", labels),
        "columns": o.mapping("--columns", columns),
    }
    if list_all:
        return _list(Console(soft_wrap=True), name, data_dir, as_json=as_json)
    if name is None:
        raise DisorderError(
            "name an item: disorder study unli/table2 hf:FOLDER mnli:matched (all: disorder study --list)"
        )
    folder = out or _folder(name)
    found = _made(name, given or [], as_ or [], folder, settings)
    if as_json:
        from disorder.verbs.study.folder import as_json as plain

        sys.stdout.write(json.dumps(plain(found), ensure_ascii=False) + "\n")
        return
    show(found, Console(), folder)


def _folder(name: str) -> Path | None:
    """A folder of its own for an item that is measured; none for one that only says what to type."""
    from disorder.verbs.study import item

    return None if item(name).commands else o.new_folder("study", name.replace("/", "-"))


def _made(
    name: str, given: list[str], names: list[str], folder: Path | None, settings: dict[str, Any]
) -> Study:
    from disorder.cli.progress import Bar, News
    from disorder.verbs.study import study as start

    News.show()
    with Bar() as bar:
        return start(name, *given, names=names, out=folder, progress=bar, **settings)


def show(found: Study, console: Console, folder: Path | None) -> None:
    """The table, what was left out, and where the page lies."""
    from rich.text import Text

    from disorder.verbs.study.table_lines import why_not

    console.print(Text(f"\n{found.item}: {found.title}", style="dim"), soft_wrap=True)
    console.print(Text(found.verdict, style="bold"), soft_wrap=True)
    if found.cells:
        console.print(_table(found))
    elif found.published:
        console.print(_printed(found))
    for note in [*why_not(found), *found.notes, *found.remarks]:
        console.print(Text(note), soft_wrap=True)
    for command in found.commands:
        console.print(Text(f"  {command}", style="bold"), soft_wrap=True)
    if folder is not None:
        console.print(Text(f"\nPage: {folder}/report.html", style="bold"), soft_wrap=True)


def _table(found: Study) -> Table:
    """The lines of the study; intervals stand below their numbers, so that most tables fit eighty
    columns.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    from disorder.verbs.study.table_lines import columns_of, constants, keys_of, lines, title

    same = constants(found)
    keys = [key for key in keys_of(found) if key not in same]
    about = ", ".join(f"{key} {value}" for key, value in same.items())
    table = Table(
        title=about or None,
        title_justify="left",
        box=SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )
    for key in keys:
        table.add_column(key, overflow="fold", min_width=len(key))
    for column in columns_of(found):
        table.add_column(title(column), justify="right", no_wrap=True)
    for line in lines(found, keys):
        style = {"ours": "bold", "other": "dim"}.get(line.whose, "")
        cells = [text.replace(" ", "\n", 1) for text in line.cells]
        table.add_row(*[Text(text, style=style) for text in [*line.about, *cells]])
    return table


def _printed(found: Study) -> Table:
    """What the paper printed, where there is nothing of ours beside it."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from disorder.verbs.study.table_lines import printed

    shown = printed(found)
    table = Table(
        title="as published",
        title_justify="left",
        box=SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )
    for name in (*shown["keys"], *shown["columns"]):
        table.add_column(name, overflow="fold")
    for about, cells in shown["rows"]:
        table.add_row(*about, *cells)
    return table


def _list(console: Console, name: str | None, data_dir: str | None, *, as_json: bool) -> None:
    """All items, or those of one paper, with what each needs and whether it can be made now."""
    from rich.text import Text

    from disorder.verbs.study import items
    from disorder.verbs.study.given_specs import lacking

    wanted = [item for item in items().values() if name is None or item.name.startswith(name)]
    if not wanted:
        papers = dict.fromkeys(item.paper for item in items().values())
        raise DisorderError(f"no item begins with {name!r}; papers: {', '.join(papers)}")
    rows = [_facts(item, lacking(item, data_dir)) for item in wanted]
    if as_json:
        sys.stdout.write(json.dumps(rows, ensure_ascii=False) + "\n")
        return
    margin = max(len(row["item"]) for row in rows) + 2
    width = console.width if console.is_terminal else sys.maxsize  # lines of a file stay whole
    for row in rows:
        facts = ", ".join(fact for fact in (row["kind"], row["takes"]) if fact)
        needs, ready = (
            f"; needs {row['needs']}" if row["needs"] else "",
            "ready" if row["is_measured"] else "says what to type",
        )
        title = Text(_indented(row["title"], margin, width, first=row["item"]))
        title.stylize("bold", 0, len(row["item"]))
        console.print(title)
        console.print(Text(_indented(f"{facts}{needs}", margin, width), style="dim"))
        state = "; ".join(row["lacking"]) or ready
        console.print(
            Text(_indented(state, margin, width), style="" if row["lacking"] else "green")
        )


def _indented(line: str, margin: int, width: int, first: str = "") -> str:
    """A line perturbed at the width of the terminal, every piece indented; the first one behind a
    name.
    """
    start, rest = f"{first:<{margin}}", " " * margin
    return textwrap.fill(
        line, width, initial_indent=start, subsequent_indent=rest, break_on_hyphens=False
    )


def _facts(item: Item, lacking: list[str]) -> dict[str, Any]:
    needs = [
        ", ".join(item.models) if item.models else "a model" if item.pipeline.needs_model else "",
        ", ".join(item.data),
    ]
    needs += [
        f"trains on {item.train}" if item.train else "",
        *(f"disorder[{extra}]" for extra in item.extras),
    ]
    return {
        "item": item.name,
        "title": item.title,
        "kind": item.pipeline.kind,
        "does": item.pipeline.does,
        "takes": item.takes,
        "needs": "; ".join(need for need in needs if need),
        "lacking": lacking,
        "is_measured": not item.commands,
    }
