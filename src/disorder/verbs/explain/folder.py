"""What is left of an explanation? A folder with page, pictures, CSV and JSON, or single files where
the user names them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from disorder.errors import DisorderError
from disorder.report import charts
from disorder.report.exhibits import Figure, Table, as_csv
from disorder.report.page import template, write_report
from disorder.runs.run import Run, make_folder, read_run
from disorder.verbs.explain.explaining import Explanations, Section
from disorder.verbs.explain.result import bounds

SCHEMA_VERSION = 1
SHOWN = 12  # rows of a table on the page
FORMS = (".svg", ".png")


def write_folder(folder: Path, result: Explanations, command: str) -> None:
    """Write explain.html, explain.json, and every picture as SVG with its CSV."""
    make_folder(folder)
    for _, figure in figures(result):
        _write(folder / f"{figure.name}.svg", figure.svg.encode())
        _write(folder / f"{figure.name}.csv", as_csv(figure.rows))
    for table in tables(result):
        _write(folder / f"{table.name}.csv", as_csv(table.rows))
    _write(
        folder / "explain.json",
        (json.dumps(as_json(result), indent=1, ensure_ascii=False) + "\n").encode(),
    )
    audit = _audited(folder, result)
    _write(
        folder / "explain.html",
        page(result, command, has_report=audit is not None).encode("utf-8", "backslashreplace"),
    )
    if audit is not None:
        write_report(folder, audit)


def _audited(folder: Path, result: Explanations) -> Run | None:
    """The finished audit of the same model and data that lies in this folder, if there is one; then
    both pages link.
    """
    if not (folder / "run.json").exists():
        return None
    run = read_run(folder)
    is_same = run.hashes == dict(result.hashes) and run.model == result.model
    return run if run.status == "done" and is_same else None


def write_figures(path: Path, result: Explanations) -> list[Path]:
    """Write the pictures as SVG or PNG, by the ending of `path`; with several, each has its name
    before the ending.
    """
    check_form(path)
    found = list(figures(result))
    if not found:
        raise DisorderError("--figure: there is no picture to write")
    paths = _paths(path, [figure.name for _, figure in found])
    for where, (_, figure) in zip(paths, found, strict=True):
        _write(where, charts.png(figure.svg) if where.suffix == ".png" else figure.svg.encode())
    return paths


def check_form(path: Path) -> None:
    """Raise on a picture format that is not known."""
    if path.suffix not in FORMS:
        raise DisorderError(f"--figure {path}: end the name in {' or '.join(FORMS)}")


def write_csvs(path: Path, result: Explanations) -> list[Path]:
    """Write the data behind the pictures, and the tables; with several, each has its name before
    the ending.
    """
    found: list[Figure | Table] = [*(figure for _, figure in figures(result)), *tables(result)]
    if not found:
        raise DisorderError("--csv: there is no table to write")
    paths = _paths(path, [each.name for each in found])
    for where, each in zip(paths, found, strict=True):
        _write(where, as_csv(each.rows))
    return paths


def _paths(path: Path, names: Sequence[str]) -> list[Path]:
    """The file itself for one thing, a file a name for several."""
    if len(names) == 1:
        return [path]
    stem = path.stem
    return [
        path.with_stem(name if f"{name}_".startswith(f"{stem}_") else f"{stem}-{name}")
        for name in names
    ]


def as_json(result: Explanations) -> dict[str, Any]:
    """All findings as plain data; pictures and tables are named, and lie beside as CSV and SVG."""
    return {
        "schema_version": SCHEMA_VERSION,
        "model": result.model,
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


def _section(section: Section) -> dict[str, Any]:
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
        "figures": [
            {"name": f.name, "caption": f.caption, "rows": list(f.rows)} for f in found.figures
        ],
        "tables": [
            {"name": t.name, "caption": t.caption, "rows": list(t.rows)} for t in found.tables
        ],
    }


def page(result: Explanations, command: str, *, has_report: bool = False) -> str:
    """The findings as one page of HTML that works from disk."""
    drawn: str = template("explain_page.html").render(
        result=result,
        command=command,
        has_report=has_report,
        shown=SHOWN,
        about=about(result),
        cell=_cell,
    )
    return drawn


def about(result: Explanations) -> str:
    """What was looked at, in one line."""
    of = f" of {result.n_available:,}" if result.n_available > result.n_examples else ""
    return f"{result.model} on {result.data}: {result.n_examples:,}{of} examples, seed {result.settings['seed']}"


def figures(result: Explanations) -> Iterator[tuple[Section, Figure]]:
    """Every picture with the section it stands in."""
    for section in result.sections:
        if section.found is not None:
            yield from ((section, figure) for figure in section.found.figures)


def tables(result: Explanations) -> Iterator[Table]:
    """Every table."""
    for section in result.sections:
        if section.found is not None:
            yield from section.found.tables


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return (
        f"{value:.3f}"
        if isinstance(value, float)
        else f"{value:,}"
        if type(value) is int
        else str(value)
    )


def _write(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    beside = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.write_bytes(content)
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise DisorderError(f"{path} cannot be written ({error.strerror or error})") from None
