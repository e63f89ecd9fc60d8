"""Results on disk: result.json, the page, and every figure and table with the rows behind it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from disorder.errors import BadData, DisorderError, option
from disorder.results.render import render
from disorder.results.result import Figure, Result, Table, as_csv
from disorder.safe_io import read_json
from disorder.store.storage import make_folder, remove_files, write_atomically

RECORD = "result.json"
PAGE = "report.html"
# what each verb left before there was one record for all of them
LEGACY = {
    "run.json": "audit",
    "sanity.json": "sanity",
    "study.json": "study",
    "training.json": "train",
}


def write_result(
    folder: Path,
    result: Result,
    *,
    record: str = RECORD,
    page_name: str = PAGE,
    beside: Mapping[str, str] | None = None,
) -> None:
    """Write a result with its page, figures and tables, and other files that are given as text.

    Those of an earlier result go first: stopped half-way, no old page stands beside new tables.
    """
    html = render(result, "page", in_folder=True)
    texts = {**(beside or {}), page_name: html, record: render(result, "json")}
    make_folder(folder)
    remove_files(folder, [*_earlier(folder / record), *texts])
    for figure in result.figures:
        write_atomically(folder / f"{figure.name}.svg", figure.svg.encode())
    exhibits: list[Figure | Table] = [*result.figures, *result.tables]
    for exhibit in exhibits:
        write_atomically(folder / f"{exhibit.name}.csv", as_csv(exhibit.rows))
    for name, text in texts.items():
        write_atomically(folder / name, text.encode("utf-8", "backslashreplace"))


def _earlier(path: Path) -> Iterator[str]:
    """The figures and tables that the record of an earlier result names."""
    try:
        sections = read_json(path)["sections"]
        names = [
            each["name"]
            for section in sections
            for each in (*section.get("figures", ()), *section.get("tables", ()))
        ]
    except (OSError, BadData, KeyError, TypeError, AttributeError):
        return
    for name in names:
        if re.fullmatch(r"\w+", str(name)):
            yield from (f"{name}.svg", f"{name}.csv")


def record_of(folder: Path, legacy: str) -> Path:
    """The record of a result: result.json, or what older versions wrote in its place."""
    path = folder / RECORD
    return folder / legacy if not path.exists() and (folder / legacy).exists() else path


def check_folder(folder: Path | None, verb: str) -> None:
    """Raise on a folder that holds the result of another verb."""
    if folder is not None and verb_of(folder) not in ("", verb):
        raise DisorderError(f"{folder} holds another result; choose another {option('out')}")


def verb_of(folder: Path) -> str:
    """The verb whose result a folder holds; empty where it holds none."""
    for name, verb in LEGACY.items():
        if (folder / name).exists():
            return verb
    try:
        found = read_json(folder / RECORD)
    except (OSError, BadData):
        return ""
    return str(found.get("verb", "")) if isinstance(found, dict) else ""
