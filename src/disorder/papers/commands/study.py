"""`disorder study`: a paper's table for any model, with the published numbers beside ours."""

from __future__ import annotations

import textwrap
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from disorder.cli.folders import new_folder, resumable
from disorder.cli.output import console as new_console
from disorder.cli.output import print_json, print_text, show
from disorder.errors import DisorderError
from disorder.papers.requests import StudyOptions, StudyOutput
from disorder.registry import verb

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from disorder.papers.study import Study, StudyItem

WIDTH = 80  # of a terminal
MARGIN = 16  # for the names of items in a list
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


@verb(
    group="Measure",
    python="disorder.papers.study:study",
    reads="disorder.papers.study:read_study",
)
def study(
    name: Name = None,
    given: Given = None,
    *,
    options: StudyOptions,
    output: StudyOutput,
) -> None:
    """Compute a table or figure of a paper for any MODEL and DATA, with the published numbers
    beside.

    A published number is compared with ours only where model and data are the same; others are
    shown beside it with their names.
    """
    as_json = output["as_json"]
    if output["list_all"]:
        place = options.get("data_dir")
        shown = None if place is None else str(place)
        _list(new_console(soft_wrap=True), name, shown, as_json=as_json)
        return
    if output["check"]:
        _check(name, output["studies"], as_json=as_json)
        return
    if name is None:
        raise DisorderError(
            "name an item: disorder study unli/table2 hf:FOLDER mnli:matched "
            "(all: disorder study --list)"
        )
    out = output["out"]
    folder = _new_folder(name, given or ()) if out is None else Path(out)
    found = _computed(name, given or (), folder, output["as_"], options)
    if as_json:
        print_json(found.result.as_data())
        return
    show(found.result, [] if folder is None else [f"Page: {folder}/report.html"])


def _new_folder(name: str, given: Sequence[str]) -> Path | None:
    """A new folder for an item that is computed; none for one that only says what to type."""
    from disorder.papers.study import find_item

    if find_item(name).commands and not given:
        return None
    return new_folder("study", name.replace("/", "-"))


def _check(name: str | None, studies: str | Path | None, *, as_json: bool) -> None:
    """What of the papers can be computed, and was: one line per item, as Markdown."""
    from disorder.papers.study import PAPERS, check_item, check_table, read_studies

    found = read_studies(Path(studies)) if studies else {}
    checks = [check_item(item, found) for item in _wanted(name) if item.paper_name in PAPERS]
    if as_json:
        print_json([vars(check) for check in checks])
        return
    print_text(check_table(checks), end="")


def _computed(
    name: str,
    given: Sequence[str],
    folder: Path | None,
    names: str | Sequence[str],
    options: StudyOptions,
) -> Study:
    from disorder.cli.progress import Bar, News
    from disorder.papers.study import study as compute

    News.show()
    with ExitStack() as stack:
        bar = stack.enter_context(Bar())
        if folder is not None:
            stack.enter_context(resumable(folder, "result.json"))
        return compute(name, *given, as_=names, out=folder, progress=bar, **options)


def _list(console: Console, name: str | None, data_dir: str | None, *, as_json: bool) -> None:
    """All items, one line each; with a name those that begin so, and what each needs."""
    from disorder.papers.study import missing_for

    items = _wanted(name)
    if name is None and not as_json:
        for item in items:
            line = textwrap.shorten(item.title, WIDTH - MARGIN, placeholder=" …")
            print_text(f"{item.name:<{MARGIN}}{line}")
        print_text("\nWhat an item needs, and what is missing: disorder study --list unli/table2")
        return
    rows = [_facts(item, missing_for(item, data_dir)) for item in items]
    if as_json:
        print_json(rows)
        return
    for row in rows:
        _print_item(console, row)


def _wanted(name: str | None) -> list[StudyItem]:
    """All items, or those whose names begin so."""
    from disorder.papers.study import study_items

    known = study_items().values()
    wanted = [item for item in known if name is None or item.name.startswith(name)]
    if not wanted:
        papers = dict.fromkeys(item.paper_name for item in known)
        raise DisorderError(f"no item begins with {name!r}; papers: {', '.join(papers)}")
    return wanted


def _print_item(console: Console, row: dict[str, Any]) -> None:
    from rich.text import Text

    title = Text(_indented(row["title"], first=row["item"]))
    title.stylize("bold", 0, len(row["item"]))
    console.print(title)
    facts = ", ".join(fact for fact in (row["kind"], row["takes"]) if fact)
    if row["needs"]:
        facts = f"{facts}; needs {row['needs']}"
    console.print(Text(_indented(facts), style="dim"))
    ready = "ready" if row["is_measured"] else "says what to type"
    state = "; ".join(row["lacking"]) or ready
    console.print(Text(_indented(state), style="" if row["lacking"] else "green"))


def _indented(line: str, first: str = "") -> str:
    """A line wrapped and indented; the first piece behind a name."""
    return textwrap.fill(
        line,
        WIDTH,
        initial_indent=f"{first:<{MARGIN}}",
        subsequent_indent=" " * MARGIN,
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
