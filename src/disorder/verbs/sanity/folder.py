"""The folder of a result: report.html, sanity.json, card.md, figures as SVG and tables as CSV."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from disorder.errors import BadData, DisorderError
from disorder.report.exhibits import Figure, Row, Table, as_csv
from disorder.report.number_text import cell_text, with_interval
from disorder.report.page import template
from disorder.runs.run_folder import make_folder
from disorder.runs.storage import remove_files, write_atomically
from disorder.untrusted_files import read_json
from disorder.verbs.sanity.dataset_card import card
from disorder.verbs.sanity.result import Sanity, SanitySection, Verdict, record

SCHEMA_VERSION = 3
SHOWN = 12  # rows of a table on the page
PAGES = ("report.html", "card.md", "sanity.json")


def check_folder(folder: Path | None) -> None:
    """Raise on a folder whose report.html is another verb's."""
    others = ("run.json", "study.json")
    if folder is not None and any((folder / name).exists() for name in others):
        raise DisorderError(f"{folder} holds another result; choose another --out")


def write_folder(folder: Path, result: Sanity) -> None:
    """Write report.html, sanity.json, card.md, and every figure and table.

    Those of an earlier result go first: stopped half-way, no old page stands beside new tables.
    """
    make_folder(folder)
    _remove_earlier(folder)
    for figure in result.figures:
        write_atomically(folder / f"{figure.name}.svg", figure.svg.encode())
        write_atomically(folder / f"{figure.name}.csv", as_csv(figure.rows))
    for table in result.tables:
        write_atomically(folder / f"{table.name}.csv", as_csv(table.rows))
    _write(folder / "sanity.json", json.dumps(as_json(result), indent=1, ensure_ascii=False) + "\n")
    _write(folder / "card.md", card(result))
    _write(folder / "report.html", page(result))


def _write(path: Path, text: str) -> None:
    write_atomically(path, text.encode("utf-8", "backslashreplace"))


def _remove_earlier(folder: Path) -> None:
    """Remove an earlier result: its pages, and the figures and tables that sanity.json names."""
    try:
        checks = read_json(folder / "sanity.json")["checks"]
        names = [each["name"] for check in checks for each in (*check["figures"], *check["tables"])]
    except (OSError, BadData, KeyError, TypeError):
        names = []
    files = [
        f"{name}{ending}"
        for name in names
        if re.fullmatch(r"\w+", str(name))
        for ending in (".svg", ".csv")
    ]
    remove_files(folder, [*PAGES, *files])


def as_json(result: Sanity) -> dict[str, Any]:
    """All findings as plain data, as sanity.json holds them."""
    done = [section for section in result.sections if section.found]
    return {
        "schema_version": SCHEMA_VERSION,
        "data": result.data,
        "train": result.train,
        "design": result.design,
        "model": result.model,
        "rows": dict(result.n_rows),
        "own_words": result.own_words,
        "language": result.language,
        "labels": list(result.labels),
        "metric": result.metric,
        "chance": result.chance,
        "original": record(result.original) if result.original else None,
        "settings": dict(result.settings),
        "hashes": dict(result.hashes),
        "version": result.version,
        "seconds": result.seconds,
        "command": result.command,
        "notes": list(result.notes),
        "verdicts": [
            _verdict(section.name, verdict)
            for section in done
            if section.found
            for verdict in section.found.verdicts
        ],
        "not_done": {each.name: each.reason for each in result.sections if not each.found},
        "scores": result.records,
        "checks": [_section(section) for section in done],
    }


def _verdict(check: str, verdict: Verdict) -> Row:
    row: Row = {
        "check": check,
        "question": verdict.question,
        "group": verdict.group,
        "answer": verdict.answer,
        "because": verdict.because,
    }
    if verdict.score:
        row |= record(verdict.score)
    if verdict.original:
        row["original"] = record(verdict.original)
    return row


def _section(section: SanitySection) -> Row:
    row: Row = {"name": section.name, "asks": section.asks}
    if section.found:
        row["notes"] = list(section.found.notes)
        row["figures"] = [_exhibit(figure) for figure in section.found.figures]
        row["tables"] = [_exhibit(table) for table in section.found.tables]
    return row


def _exhibit(exhibit: Figure | Table) -> Row:
    return {"name": exhibit.name, "caption": exhibit.caption, "rows": list(exhibit.rows)}


def page(result: Sanity) -> str:
    """The findings as one page of HTML that works from disk."""
    return _rendered("sanity_page.html", result, in_folder=True)


def notebook_html(result: Sanity) -> str:
    """The content of the page with its style, for the output of a notebook cell."""
    return _rendered("sanity_notebook.html", result, in_folder=False)


def _rendered(name: str, result: Sanity, *, in_folder: bool) -> str:
    html: str = template(name, cell=cell_text, with_interval=with_interval).render(
        result=result, in_folder=in_folder, shown=SHOWN
    )
    return html
