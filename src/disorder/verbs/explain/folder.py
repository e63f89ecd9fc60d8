"""What `explain` writes: a folder with page, figures, CSV and JSON, or single files."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from disorder.errors import DisorderError
from disorder.report import charts
from disorder.report.exhibits import Figure, Table, as_csv
from disorder.report.number_text import fixed
from disorder.report.page import template, write_report
from disorder.runs.run import Run
from disorder.runs.run_folder import make_folder, read_run
from disorder.runs.settings import Settings
from disorder.runs.storage import remove_files, write_atomically
from disorder.verbs.explain.result import Explanations, ExplanationSection, bounds
from disorder.verbs.explain.subject import LIMIT

SCHEMA_VERSION = 1
SHOWN = 12  # rows of a table on the page
FORMATS = (".svg", ".png")
REPEATED = (
    "fidelity",
    "short",
    "columns",
    "labels",
    "task",
    "language",
    "data_dir",
    "batch_size",
    "precision",
    "cache",
    "language",
    "prompt",
    "shots",
    "shots_from",
    "label_words",
    "option_orders",
    "calibrate",
    "chat",
)  # settings in the command that repeats a result, where they differ from the default


def write_folder(folder: str | Path, result: Explanations, command: str) -> None:
    """Write explain.html, explain.json, and every figure as SVG with its CSV.

    Those of an earlier result go first: stopped half-way, no old page stands beside new figures.
    """
    folder = Path(folder)
    make_folder(folder)
    remove_files(folder, ("explain.html", "explain.json"))
    for figure in result.figures:
        _write(folder / f"{figure.name}.svg", figure.svg.encode())
        _write(folder / f"{figure.name}.csv", as_csv(figure.rows))
    for table in result.tables:
        _write(folder / f"{table.name}.csv", as_csv(table.rows))
    record = json.dumps(as_json(result), indent=1, ensure_ascii=False) + "\n"
    _write(folder / "explain.json", record.encode())
    audit = _audited(folder, result)
    html = page(result, command, has_report=audit is not None)
    _write(folder / "explain.html", html.encode("utf-8", "backslashreplace"))
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
    figures = list(result.figures)
    if not figures:
        raise DisorderError("--figure: there is no figure to write")
    paths = _paths(path, [figure.name for figure in figures])
    for where, figure in zip(paths, figures, strict=True):
        _write(where, charts.png(figure.svg) if where.suffix == ".png" else figure.svg.encode())
    return paths


def check_format(path: Path) -> None:
    """Raise on a file ending that is not supported for figures."""
    if path.suffix not in FORMATS:
        raise DisorderError(f"--figure {path}: end the name in {' or '.join(FORMATS)}")


def write_csvs(path: Path, result: Explanations) -> list[Path]:
    """Write the data behind the figures, and the tables; of several, each has its own name before
    the ending.
    """
    exhibits: list[Figure | Table] = [*result.figures, *result.tables]
    if not exhibits:
        raise DisorderError("--csv: there is no table to write")
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


def as_json(result: Explanations) -> dict[str, Any]:
    """All findings as plain data, with the rows of every figure and table."""
    return {
        "schema_version": SCHEMA_VERSION,
        "model": result.model,
        "beside": list(result.beside),
        "data": result.data,
        "n_examples": result.n_examples,
        "n_available": result.n_available,
        "labels": list(result.labels),
        "transformation": result.transformation,
        "settings": dict(result.settings),
        "hashes": dict(result.hashes),
        "version": result.version,
        "notes": result.notes,
        "explanations": [_section(section) for section in result.sections],
    }


def _section(section: ExplanationSection) -> dict[str, Any]:
    record: dict[str, Any] = {"name": section.name, "spec": section.spec, "asks": section.asks}
    if section.found is None:
        return record | {"reason": section.reason}
    found = section.found
    scores = [
        {"name": name} | bounds(score) | {"skipped": score.skipped}
        for name, score in found.scores.items()
    ]
    return record | {
        "finding": found.finding,
        "scores": scores,
        "notes": list(found.notes),
        "skips": dict(found.skips),
        "figures": [_exhibit(figure) for figure in found.figures],
        "tables": [_exhibit(table) for table in found.tables],
    }


def _exhibit(exhibit: Figure | Table) -> dict[str, Any]:
    return {"name": exhibit.name, "caption": exhibit.caption, "rows": list(exhibit.rows)}


def page(result: Explanations, command: str, *, has_report: bool = False) -> str:
    """The findings as one page of HTML that works from disk."""
    html: str = template("explain_page.html").render(
        result=result,
        command=command,
        has_report=has_report,
        in_folder=True,
        shown=SHOWN,
        cell=_cell,
    )
    return html


def notebook_html(result: Explanations) -> str:
    """The sections of the page alone, with their style, for the output of a notebook cell."""
    html: str = template("explain_notebook.html").render(
        result=result, in_folder=False, shown=SHOWN, cell=_cell
    )
    return html


def command_of(result: Explanations) -> str:
    """The command that repeats a result: every setting that differs from its default."""
    settings = result.settings
    words = ["disorder", "explain", result.model, result.data]
    for name in result.beside:
        words += ["--beside", name]
    for section in result.sections:
        words += ["--by", section.spec]
    words += ["--with", result.transformation, "--q", str(settings["q"])]
    words += ["--seed", str(settings["seed"])]
    limit = result.n_examples if settings["limit"] is None else settings["limit"]
    if limit != LIMIT:
        words += ["--limit", str(limit)]
    usual = Settings()
    for name in REPEATED:
        if settings[name] and settings[name] != getattr(usual, name):
            words += [f"--{name.replace('_', '-')}", _typed(settings[name])]
    return shlex.join(words)


def _typed(value: Any) -> str:
    """A setting as it is typed after its option."""
    if isinstance(value, list | tuple):
        return " ".join(map(str, value))  # there is one prompt at most
    if isinstance(value, Mapping):
        return ",".join(f"{key}={to}" for key, to in value.items())
    return str(value)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return fixed(value)
    if type(value) is int:  # a bool is shown as True or False
        return f"{value:,}"
    return str(value)


def _write(path: Path, content: bytes) -> None:
    """Write a file whole or not at all, in a folder that need not exist yet."""
    make_folder(path.parent)
    write_atomically(path, content)
