"""`disorder study`: a paper's table for any model, with the published numbers beside ours."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from disorder.cli import options as o
from disorder.cli.output import console as new_console
from disorder.cli.output import print_json, print_text
from disorder.cli.resuming import resumable
from disorder.cli.train import Device, settings_of
from disorder.errors import DisorderError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.table import Table

    from disorder.verbs.study import Study, StudyItem

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
ListAll = Annotated[bool, o.option("Show all items, and what each needs", "--list")]
As = Annotated[
    list[str] | None,
    o.option("Published model that MODEL stands for; repeat it for several, in order", "--as"),
]
StudyQ = Annotated[int | None, o.option("Permutations per example (default: the paper's)", min=1)]
Seeds = Annotated[int, o.option("Trainings per model, for items that train", min=1)]
StudyLimit = Annotated[
    int | None, o.option("Examples to test on (items that train: to train on), drawn at random")
]
TestLimit = Annotated[int | None, o.option("For items that train: test on this many examples")]
Train = Annotated[
    list[str] | None,
    o.option("Training data, for items that train; repeat it to put sets together", "--train"),
]
StudySet = Annotated[
    list[str] | None,
    o.option(
        "A setting, of trainings (epochs=3) or of a part (swap_nouns.tagger=nltk); can be repeated",
        "--set",
    ),
]
StudyShort = Annotated[
    str | None,
    o.option("Examples with fewer than q distinct variants: skip or use (default: the item's)"),
]
CheckAll = Annotated[
    bool,
    o.option("Count the printed cells of every item: reachable, and computed in --studies"),
]
Studies = Annotated[Path | None, o.option("Folder of finished studies, for --check")]
Whose = Annotated[
    str | None, o.option("paper: as described; released: as the authors' code does", "--fidelity")
]
StudyOut = Annotated[
    Path | None,
    o.option("Folder of the study, resumed if it exists (default: runs/DATE-study-ITEM)"),
]
StudyJson = Annotated[
    bool, o.option("Print study.json on standard output and nothing else", "--json")
]


def study(
    name: Name = None,
    given: Given = None,
    list_all: ListAll = False,
    check: CheckAll = False,
    studies: Studies = None,
    as_: As = None,
    q: StudyQ = None,
    seed: o.Seed = 0,
    seeds: Seeds = 1,
    limit: StudyLimit = None,
    test_limit: TestLimit = None,
    fidelity: Whose = None,
    set_: StudySet = None,
    train: Train = None,
    labels: o.Labels = "",
    columns: o.Columns = "",
    task: o.TaskName = None,
    language: o.Language = "auto",
    data_dir: o.DataDir = None,
    batch_size: o.BatchSize = None,
    precision: o.Precision = "fp32",
    curtail: o.Curtail = False,
    short: StudyShort = None,
    engine: o.Engine = "local",
    workers: o.Workers = None,
    device: Device = None,
    cache: o.CacheFolder = None,
    out: StudyOut = None,
    as_json: StudyJson = False,
) -> None:
    """Compute a table or figure of a paper for any MODEL and DATA, with the published numbers
    beside.

    A published number is compared with ours only where model and data are the same; others are
    shown beside it with their names.
    """
    if list_all:
        _list(new_console(soft_wrap=True), name, data_dir, as_json=as_json)
        return
    if check:
        _check(name, studies, as_json=as_json)
        return
    if name is None:
        raise DisorderError(
            "name an item: disorder study unli/table2 hf:FOLDER mnli:matched "
            "(all: disorder study --list)"
        )
    folder = out or _new_folder(name, given or ())
    found = _computed(
        name,
        given or (),
        as_=as_ or (),
        q=q,
        seed=seed,
        seeds=seeds,
        limit=limit,
        test_limit=test_limit,
        fidelity=fidelity,
        set_=settings_of(set_),
        train=train or (),
        labels=o.mapping("--labels", labels),
        columns=o.mapping("--columns", columns),
        task=task,
        language=language,
        data_dir=data_dir,
        batch_size=batch_size,
        precision=precision,
        curtail=curtail,
        short=short,
        engine=engine,
        workers=workers,
        device=device,
        cache=cache,
        out=folder,
    )
    if as_json:
        from disorder.verbs.study import as_json as plain_data

        print_json(plain_data(found))
        return
    show(found, new_console(), folder)


def _new_folder(name: str, given: Sequence[str]) -> Path | None:
    """A new folder for an item that is computed; none for one that only says what to type."""
    from disorder.verbs.study import find_item

    if find_item(name).commands and not given:
        return None
    return o.new_folder("study", name.replace("/", "-"))


def _check(name: str | None, studies: Path | None, *, as_json: bool) -> None:
    """What of the papers can be computed, and was: one line per item, as Markdown."""
    from dataclasses import asdict

    from disorder.verbs.study import PAPERS, check_item, check_table, read_studies

    found = read_studies(studies) if studies else {}
    checks = [check_item(item, found) for item in _wanted(name) if item.paper_name in PAPERS]
    if as_json:
        print_json([asdict(check) for check in checks])
        return
    print_text(check_table(checks), end="")


def _computed(name: str, given: Sequence[str], **settings: Any) -> Study:
    from disorder.cli.progress import Bar, News
    from disorder.verbs.study import study as compute

    News.show()
    with Bar() as bar:
        if settings["out"] is None:
            return compute(name, *given, progress=bar, **settings)
        with resumable(settings["out"], "study.json"):
            return compute(name, *given, progress=bar, **settings)


def show(found: Study, console: Console, folder: Path | None) -> None:
    """The table, what was left out, and where the page lies."""
    from rich.text import Text

    from disorder.verbs.study.table_lines import why_not

    console.print(Text(f"\n{found.item}: {found.title}", style="dim"), soft_wrap=True)
    console.print(Text(found.verdict, style="bold"), soft_wrap=True)
    if found.cells:
        console.print(_table(found))
    elif found.published:
        console.print(_published_table(found))
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
    from rich.text import Text

    from disorder.verbs.study.table_lines import columns_of, constants, keys_of, lines, title

    same = constants(found)
    keys = [key for key in keys_of(found) if key not in same]
    table = _empty_table(", ".join(f"{key} {value}" for key, value in same.items()))
    for key in keys:
        table.add_column(key, overflow="fold", min_width=len(key))
    for column in columns_of(found):
        table.add_column(title(column), justify="right", no_wrap=True)
    for line in lines(found, keys):
        style = {"ours": "bold", "other": "dim"}.get(line.whose, "")
        cells = [text.replace(" ", "\n", 1) for text in line.cells]
        table.add_row(*[Text(text, style=style) for text in [*line.about, *cells]])
    return table


def _published_table(found: Study) -> Table:
    """What the paper printed, where there is nothing of ours beside it."""
    from disorder.verbs.study.table_lines import printed_table

    printed = printed_table(found)
    table = _empty_table("as published")
    for name in (*printed.keys, *printed.columns):
        table.add_column(name, overflow="fold")
    for about, cells in printed.rows:
        table.add_row(*about, *cells)
    return table


def _empty_table(title: str) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    return Table(
        title=title or None,
        title_justify="left",
        box=SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )


def _list(console: Console, name: str | None, data_dir: str | None, *, as_json: bool) -> None:
    """All items, or those of one paper, with what each needs and whether it can be computed now."""
    from disorder.verbs.study import missing_for

    rows = [_facts(item, missing_for(item, data_dir)) for item in _wanted(name)]
    if as_json:
        print_json(rows)
        return
    margin = max(len(row["item"]) for row in rows) + 2
    for row in rows:
        _print_item(console, row, margin)


def _wanted(name: str | None) -> list[StudyItem]:
    """All items, or those whose names begin so."""
    from disorder.verbs.study import study_items

    known = study_items().values()
    wanted = [item for item in known if name is None or item.name.startswith(name)]
    if not wanted:
        papers = dict.fromkeys(item.paper_name for item in known)
        raise DisorderError(f"no item begins with {name!r}; papers: {', '.join(papers)}")
    return wanted


def _print_item(console: Console, row: dict[str, Any], margin: int) -> None:
    from rich.text import Text

    width = console.width if console.is_terminal else sys.maxsize  # lines of a file stay whole
    title = Text(_indented(row["title"], margin, width, first=row["item"]))
    title.stylize("bold", 0, len(row["item"]))
    console.print(title)
    facts = ", ".join(fact for fact in (row["kind"], row["takes"]) if fact)
    if row["needs"]:
        facts = f"{facts}; needs {row['needs']}"
    console.print(Text(_indented(facts, margin, width), style="dim"))
    ready = "ready" if row["is_measured"] else "says what to type"
    state = "; ".join(row["lacking"]) or ready
    style = "" if row["lacking"] else "green"
    console.print(Text(_indented(state, margin, width), style=style))


def _indented(line: str, margin: int, width: int, first: str = "") -> str:
    """A line wrapped at the width of the terminal and indented; the first piece behind a name."""
    return textwrap.fill(
        line,
        width,
        initial_indent=f"{first:<{margin}}",
        subsequent_indent=" " * margin,
        break_on_hyphens=False,
    )


def _facts(item: StudyItem, lacking: list[str]) -> dict[str, Any]:
    pipeline = item.pipeline
    models = ", ".join(item.models)
    if pipeline.needs_model and not models:
        models = "a model"
    needs = [
        models,
        ", ".join(item.data),
        f"trains on {item.train}" if item.train else "",
        *(f"the extra {extra}" for extra in item.extras),
    ]
    return {
        "item": item.name,
        "title": item.title,
        "kind": pipeline.kind,
        "does": pipeline.does + (f", q = {pipeline.q}" if (pipeline.q or 1) > 1 else ""),
        "takes": item.takes,
        "needs": "; ".join(need for need in needs if need),
        "lacking": lacking,
        "is_measured": not item.commands,
    }
