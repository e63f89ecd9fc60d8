"""What is left of an audit of data? A folder with the page, sanity.json, card.md, and every picture
as SVG with its CSV.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from disorder.report.exhibits import Figure, Row, Table, as_csv
from disorder.report.page import template
from disorder.runs.run import make_folder
from disorder.runs.storage import write_atomically
from disorder.verbs.sanity.dataset_card import card
from disorder.verbs.sanity.result import Sanity, Section, Verdict, said
from disorder.verbs.sanity.trials import record

SCHEMA_VERSION = 1
SHOWN = 12  # rows of a table on the page


def write_folder(folder: Path, result: Sanity, command: str) -> None:
    """Write report.html, sanity.json, card.md, and every picture and table."""
    make_folder(folder)
    _clear(folder)
    for figure in figures(result):
        write_atomically(folder / f"{figure.name}.svg", figure.svg.encode())
        write_atomically(folder / f"{figure.name}.csv", as_csv(figure.rows))
    for table in tables(result):
        write_atomically(folder / f"{table.name}.csv", as_csv(table.rows))
    text = json.dumps(as_json(result), indent=1, ensure_ascii=False) + "\n"
    write_atomically(folder / "sanity.json", text.encode("utf-8", "backslashreplace"))
    write_atomically(folder / "card.md", card(result, command).encode("utf-8", "backslashreplace"))
    write_atomically(
        folder / "report.html", page(result, command).encode("utf-8", "backslashreplace")
    )


def _clear(folder: Path) -> None:
    """Take away the pictures and tables that an earlier audit left here, which its sanity.json
    names.
    """
    try:
        checks = json.loads((folder / "sanity.json").read_text(encoding="utf-8"))["checks"]
        names = [each["name"] for check in checks for each in (*check["figures"], *check["tables"])]
    except (OSError, ValueError, KeyError, TypeError):
        return
    for name in names:
        if re.fullmatch(r"\w+", str(name)):
            for ending in (".svg", ".csv"):
                (folder / f"{name}{ending}").unlink(missing_ok=True)


def as_json(result: Sanity) -> dict[str, Any]:
    """All findings as plain data."""
    return {
        "schema_version": SCHEMA_VERSION,
        "data": result.data,
        "train": result.train,
        "design": result.design,
        "model": result.model,
        "rows": dict(result.n_rows),
        "labels": list(result.labels),
        "metric": result.metric,
        "chance": result.chance,
        "whole": record(result.whole) if result.whole else None,
        "settings": dict(result.settings),
        "hashes": dict(result.hashes),
        "version": result.version,
        "seconds": result.seconds,
        "notes": list(result.notes),
        "verdicts": [
            _verdict(section, verdict)
            for section in result.sections
            if section.found
            for verdict in section.found.verdicts
        ],
        "not_done": {
            section.name: section.reason for section in result.sections if section.found is None
        },
        "scores": [
            row for section in result.sections if section.found for row in section.found.scores
        ],
        "checks": [_section(section) for section in result.sections if section.found],
    }


def _verdict(section: Section, verdict: Verdict) -> Row:
    number = record(verdict.score) if verdict.score else {}
    number |= {"whole": record(verdict.whole)} if verdict.whole else {}
    return {
        "check": section.name,
        "question": verdict.question,
        "group": verdict.group,
        "answer": verdict.answer,
        "because": verdict.because,
    } | number


def _section(section: Section) -> Row:
    assert section.found is not None
    return {
        "name": section.name,
        "asks": section.asks,
        "notes": list(section.found.notes),
        "figures": [
            {"name": f.name, "caption": f.caption, "rows": list(f.rows)}
            for f in section.found.figures
        ],
        "tables": [
            {"name": t.name, "caption": t.caption, "rows": list(t.rows)}
            for t in section.found.tables
        ],
    }


def page(result: Sanity, command: str) -> str:
    """The findings as one page of HTML that works from disk."""
    drawn: str = template("sanity_page.html").render(
        result=result,
        command=command,
        shown=SHOWN,
        about=about(result),
        cell=_cell,
        headline=headline(result),
        said=said,
    )
    return drawn


def about(result: Sanity) -> str:
    """What was audited, in one line."""
    rows = f"{result.n_rows['data']:,} rows" + (
        f" and {result.n_rows['train']:,} of {result.train}" if result.train else ""
    )
    return f"{result.data}: {rows}, model {result.model}, seed {result.settings['seed']}"


def headline(result: Sanity) -> str:
    """What matters most, in a line: the answers for all rows."""
    main = [
        v
        for v in result.verdicts
        if v.group == "all" and v.question in ("order", "both texts", "word classes")
    ]
    line = ", ".join(
        f"{v.question}: {v.answer}{_elsewhere(result, v)}" for v in main or result.verdicts
    )
    return f"{line[0].upper()}{line[1:]}" if line else "Nothing could be checked"


def _elsewhere(result: Sanity, verdict: Verdict) -> str:
    """The groups where the answer is another."""
    others = [
        v
        for v in result.verdicts
        if v.question == verdict.question and v.group != "all" and v.answer != verdict.answer
    ]
    return f" ({'; '.join(f'{v.group}: {v.answer}' for v in others)})" if others else ""


def figures(result: Sanity) -> Iterator[Figure]:
    """Every picture."""
    for section in result.sections:
        if section.found:
            yield from section.found.figures


def tables(result: Sanity) -> Iterator[Table]:
    """Every table."""
    for section in result.sections:
        if section.found:
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
