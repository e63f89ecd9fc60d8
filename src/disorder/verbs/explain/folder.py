"""What `explain` writes: a folder with page, figures, CSV and JSON, or single files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from disorder.errors import DisorderError, option
from disorder.requests.commands import changed, command_line
from disorder.requests.explain import ExplainOptions
from disorder.results import drawing
from disorder.results.page import write_report
from disorder.results.result import Figure, Table, as_csv
from disorder.results.run import Run
from disorder.results.run_folder import read_run
from disorder.results.saving import write_result
from disorder.store.storage import make_folder, write_atomically
from disorder.verbs.explain.result import Explanations

FORMATS = (".svg", ".png")


def write_folder(folder: Path, found: Explanations) -> None:
    """Write explain.html, explain.json, and every figure as SVG with its CSV, where an audit may
    lie.
    """
    audit = _audited(folder, found)
    links = {"The audit of this model": "report.html"} if audit is not None else {}
    result = replace(found.result, links=links)
    write_result(folder, result, record="explain.json", page_name="explain.html")
    if audit is not None:
        write_report(folder, audit)


def _audited(folder: Path, result: Explanations) -> Run | None:
    """The finished audit of the same model and data in this folder, if there is one: both pages
    then link to each other.
    """
    if not (folder / "run.json").exists():
        return None
    run = read_run(folder)
    is_same = run.hashes == dict(result.hashes) and run.model == result.model
    return run if run.status == "done" and is_same else None


def write_figures(path: Path, result: Explanations) -> list[Path]:
    """Write the figures as SVG or PNG, by the ending of `path`; of several, each has its own name
    before the ending.
    """
    check_format(path)
    figures = result.figures
    if not figures:
        raise DisorderError(f"{option('figure')}: there is no figure to write")
    paths = _paths(path, [figure.name for figure in figures])
    for where, figure in zip(paths, figures, strict=True):
        _write(where, drawing.png(figure.svg) if where.suffix == ".png" else figure.svg.encode())
    return paths


def check_format(path: Path) -> None:
    """Raise on a file ending that is not supported for figures."""
    if path.suffix not in FORMATS:
        raise DisorderError(f"{option('figure', path)}: end the name in {' or '.join(FORMATS)}")


def write_csvs(path: Path, result: Explanations) -> list[Path]:
    """Write the data behind the figures, and the tables; of several, each has its own name before
    the ending.
    """
    exhibits: list[Figure | Table] = [*result.figures, *result.tables]
    if not exhibits:
        raise DisorderError(f"{option('csv')}: there is no table to write")
    paths = _paths(path, [each.name for each in exhibits])
    for where, each in zip(paths, exhibits, strict=True):
        _write(where, as_csv(each.rows))
    return paths


def _paths(path: Path, names: Sequence[str]) -> list[Path]:
    """The path itself for one exhibit, one file per name for several."""
    if len(names) == 1:
        return [path]
    stem = path.stem
    return [
        path.with_stem(name if f"{name}_".startswith(f"{stem}_") else f"{stem}-{name}")
        for name in names
    ]


def command_of(result: Explanations) -> str:
    """The command that repeats a result: every setting that differs from its default."""
    settings = result.settings
    made = {
        **settings,
        "by": [section.spec for section in result.sections],
        "transformation": result.transformation,
        "limit": result.n_examples if settings["limit"] is None else settings["limit"],
    }
    beside = [word for name in result.beside for word in ("--beside", name)]
    words = [result.model, result.data, *beside, *changed(ExplainOptions, made)]
    return command_line("explain", *words)


def _write(path: Path, content: bytes) -> None:
    """Write a file whole or not at all, in a folder that need not exist yet."""
    make_folder(path.parent)
    write_atomically(path, content)
