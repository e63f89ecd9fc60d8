"""Results for people and for programs: one envelope, in whatever format is wanted.

Texts and names are untrusted: every format escapes them, and invisible characters are made visible.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING, Any, Literal

from disorder.results.markup import (
    latex_caption,
    latex_code,
    latex_text,
    latex_title,
    markdown_code,
    markdown_text,
    yaml_lines,
)
from disorder.results.result import Cell, Grid, Result, as_csv
from disorder.results.writing import fixed, sentence, short_name
from disorder.safe_io import visible

if TYPE_CHECKING:
    from jinja2 import Environment
    from rich.console import Console

Format = Literal[
    "terminal", "page", "frame", "notebook", "markdown", "card", "latex", "csv", "json"
]
HEIGHT = 640  # pixels of the frame in a notebook
STRONG = ("strong", "ours", "needed", "open", "unsure", "clean")  # marks that are set in bold
SIGNS = {"passed": "✅ ", "failed": "❌ ", "undecided": "⚠ "}  # marks that Markdown shows by a sign


def render(
    result: Result,
    to: Format,
    *,
    console: Console | None = None,
    written: Sequence[str] = (),
    is_all: bool = False,
    in_folder: bool = False,
) -> str:
    """A result as text.

    For a terminal: as wide and as coloured as `console`, with lines that say where files were
    `written`; one screen where the result has a summary, unless `is_all`. A page is one file that
    works from disk, offline, on a phone and in print; it names the files beside it where it is
    `in_folder`. A frame holds the page, for a notebook's cell that must not be disturbed; a
    notebook has its content, and links to no section: other cells may have some of that name. A
    card is Markdown after its metadata, LaTeX has the first tables, CSV the scores.
    """
    match to:
        case "terminal":
            return _terminal(result, console, written, is_all=is_all)
        case "page":
            return _html(result, result.template, in_folder=in_folder)
        case "frame":
            content = _html(result, result.template, is_still=True)
            return (
                f'<iframe srcdoc="{escape(content, quote=True)}" sandbox="" style="width: 100%; '
                f'height: {HEIGHT}px; border: 1px solid #d0d7de"></iframe>'
            )
        case "notebook":
            return _html(result, "notebook.html")
        case "markdown":
            return "\n".join(_markdown(result)) + "\n"
        case "card":
            front = yaml_lines(result.card)
            return "\n".join(["---", *front, "---", "", *_markdown(result)]) + "\n"
        case "latex":
            return "\n".join(latex_table(grid) for grid in result.paper or result.grids)
        case "csv":
            return as_csv(result.records).decode()
        case "json":
            return (
                json.dumps(result.as_data(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
            )


def _terminal(
    result: Result, console: Console | None, written: Sequence[str], *, is_all: bool
) -> str:
    from disorder.results.terminal import SafeConsole, show_result

    wanted = console or SafeConsole(file=io.StringIO(), width=80)
    with wanted.capture() as captured:
        show_result(result, wanted, written, is_all=is_all)
    return captured.get()


def _html(result: Result, name: str, *, in_folder: bool = False, is_still: bool = False) -> str:
    html: str = template(name).render(result=result, in_folder=in_folder, is_still=is_still)
    return html


@lru_cache(maxsize=32)
def template(name: str) -> Any:
    """A page's template, compiled once."""
    return environment("disorder.results").get_template(name)


def environment(package: str, **filters: Callable[..., str]) -> Environment:
    """The templates of a package, and ours: everything is escaped, and nothing may be missing."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    found = Environment(
        loader=ChoiceLoader([PackageLoader(each) for each in (package, "disorder.results")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {
        "visible": visible,
        "number": fixed,
        "sentence": sentence,
        "short": short_name,
    }
    found.filters |= filters
    return found


def _markdown(result: Result) -> Iterator[str]:
    """What a reader needs first: the conclusion, what to mind, the first tables, how to repeat it.

    Names from elsewhere stand as code where a text could mention somebody.
    """
    yield f"{'#' * result.level} {_text(result.title or f'disorder {result.verb}')}"
    first, *rest = result.headline.split("\n")
    yield from ("", f"**{_text(first)}**")
    if rest or result.lead or result.caveats:
        yield ""
    yield from (f"- {_text(line)}" for line in (*rest, *result.lead))
    yield from (f"- Caveat: {_text(line)}" for line in result.caveats)
    if result.about != result.title:
        yield from ("", _text(f"{result.about.removesuffix('.')}."))
    for grid in result.grids:
        yield from ("", *([f"**{_text(grid.caption)}**", ""] if grid.caption else []))
        yield from markdown_table(grid)
    if result.notes:
        yield ""
    yield from (f"- {_text(line)}" for line in result.notes)
    if result.next_steps:
        yield from ("", "What to do:", "")
    for step in result.next_steps:
        yield f"- {markdown_code(step.command)}" + (f": {_text(step.why)}" if step.why else "")
    if result.command:
        yield from ("", f"Run it again: {markdown_code(result.command)}")


def _text(text: str) -> str:
    return markdown_code(text) if "@" in text else markdown_text(text)


def markdown_table(grid: Grid) -> list[str]:
    """The lines of a table in Markdown."""
    rules = ["---:" if column.kind == "number" else "---" for column in grid.columns]
    lines = [[markdown_text(column.title) for column in grid.columns], rules]
    lines += [[_markdown_cell(cell) for cell in row] for row in grid.rows]
    return [f"| {' | '.join(cells)} |" for cells in lines]


def _markdown_cell(cell: Cell) -> str:
    if cell.mark == "code":
        return markdown_code(cell.text, in_table=True)
    text = markdown_text(cell.text)
    shown = f"**{text}**" if text and cell.mark in STRONG else text
    return f"{SIGNS.get(cell.mark, '')}{shown} {cell.below}".strip()


def latex_table(grid: Grid) -> str:
    """A table for a paper (booktabs)."""
    columns = "".join("r" if column.kind == "number" else "l" for column in grid.columns)
    lines = [
        r"% needs \usepackage{booktabs}",
        r"\begin{table}",
        r"  \centering",
        rf"  \caption{{{latex_caption(grid.caption)}}}",
        rf"  \label{{tab:disorder-{grid.name}}}",
        rf"  \begin{{tabular}}{{{columns}}}",
        r"    \toprule",
        f"    {_latex_row([latex_title(column.title) for column in grid.columns])}",
        r"    \midrule",
        *(f"    {_latex_row([_latex_cell(cell) for cell in row])}" for row in grid.rows),
        r"    \bottomrule",
        r"  \end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _latex_row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _latex_cell(cell: Cell) -> str:
    text = latex_code(cell.text) if cell.mark == "code" else latex_title(cell.text)
    shown = rf"\textbf{{{text}}}" if text and cell.mark in STRONG else text
    below = rf" {{\small {latex_text(cell.below)}}}" if cell.below else ""
    return f"{shown}{below}"
