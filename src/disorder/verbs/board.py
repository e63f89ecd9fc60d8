"""A board: many runs on one page, models ranked on each dataset by the skill they keep.

`disorder board RUNS… --out board/` writes index.html, which needs no server and no network, and the
report of each run beside it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from hashlib import blake2b
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Unpack

from disorder.errors import BadData, DisorderError, UnknownName
from disorder.registry import MetricPart, TransformationPart, parts
from disorder.requests.fields import BoardFields
from disorder.requests.runs import BoardOptions
from disorder.requests.settings import takes_options
from disorder.results.board import Board, BoardRow
from disorder.results.render import render
from disorder.results.run import Record, Run
from disorder.results.run_folder import read_run
from disorder.results.run_tables import main_transformation
from disorder.store.storage import write_atomically
from disorder.store.store import FILE, Store, checksum
from disorder.types import ORIGINAL
from disorder.verbs.compare import check_alike

REPORTS = "reports"


@takes_options(BoardOptions)
def board(
    *runs: str | Path | Run, out: str | Path | None = None, **options: Unpack[BoardOptions]
) -> Board:
    """Rank the models of many runs on each dataset by the skill they keep.

    runs: finished runs, their folders, or folders that have run folders in them.
    out: a folder for index.html and the reports; without it nothing is written.
    """
    asked = BoardFields.of(options)
    folder = None if out is None else Path(out)
    with Store.open(folder, may_have_links=True) as store:  # a site of the user's own
        return _board(runs, store, asked.title, asked.score)


def _board(
    runs: Sequence[str | Path | Run], store: Store, title: str, wanted: Sequence[str]
) -> Board:
    out = store.folder
    found = list(_runs(runs))
    if not found:
        raise DisorderError("no finished run is there: disorder board runs --out board")
    metrics = _measured(wanted, found)
    for data in dict.fromkeys(run.data for run in found):
        check_alike([run for run in found if run.data == data])
    names = _link_names(found)
    rows = [_row(run, name if out else "", metrics) for run, name in zip(found, names, strict=True)]
    made = Board(title=title, rows=ranked(rows), metrics=metrics)
    if out is not None:
        _write(store, out, made, dict(zip(names, found, strict=True)))
    return made


def _measured(wanted: Sequence[str], runs: Sequence[Run]) -> list[str]:
    """The metrics that were asked for; raises on one that no run has."""
    known = {record.metric for run in runs for record in run.scores}
    for name in wanted:
        if name not in known:
            raise UnknownName("metric in these runs", name, known)
    return list(dict.fromkeys(wanted))


def _runs(given: Sequence[str | Path | Run]) -> Iterator[Run]:
    """The finished runs, each once, in the order they are named in."""
    seen: set[Path] = set()
    for each in given:
        if isinstance(each, Run):
            each.check_done()
            yield each
            continue
        for folder in _folders(Path(each)):
            where = folder.resolve()
            if where not in seen:
                seen.add(where)
                run = read_run(folder)
                if folder == Path(each):
                    run.check_done()
                if run.status == "done":
                    yield run


def _folders(given: Path) -> Iterator[Path]:
    """The folder itself where it is a run, else the run folders below it."""
    if (given / "run.json").is_file():
        yield given
        return
    if not given.is_dir():
        raise BadData(f"{given} is no folder")
    for here, folders, names in os.walk(given):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        if "run.json" in names:
            folders.clear()
            yield Path(here)


def _link_names(runs: Sequence[Run]) -> list[str]:
    """A file name for each report, made of model and data."""
    names: list[str] = []
    for run in runs:
        base = (
            re.sub(r"[^a-z0-9]+", "-", f"{run.title}-{run.data}".lower()).strip("-")[:80] or "run"
        )
        name = base
        number = 2
        while name in names:
            name = f"{base}-{number}"
            number += 1
        names.append(name)
    return names


def _row(run: Run, name: str, metrics: Sequence[str]) -> BoardRow:
    found = run.conclusion
    transformation = found.transformation if found else main_transformation(run)
    return BoardRow(
        model=run.title,
        data=run.data,
        kind=found.kind if found else "",
        verdict=run.verdict.split("\n")[0],
        kept=run.score(transformation, "skill_kept"),
        accuracy=run.score(ORIGINAL, "accuracy") or run.score(ORIGINAL, "spearman"),
        transformation=transformation,
        n_examples=run.n_examples,
        started=run.started,
        link=f"{REPORTS}/{name}.html" if name else "",
        scores={each: run.score(transformation, each) for each in metrics},
    )


def ranked(rows: Iterable[BoardRow]) -> list[BoardRow]:
    """The rows with their ranks among the newest runs on the same data under the same
    transformation, least skill kept first.

    A rank is a range where intervals overlap: from one more than the models that surely keep less,
    to all but those that surely keep more. Runs without skill have none.
    """
    found = list(rows)
    newest: dict[tuple[str, str], BoardRow] = {}
    for row in sorted(found, key=lambda row: row.started):
        newest[row.model, row.data] = row
    current = list(newest.values())
    return sorted((_placed(row, current) for row in found), key=_order)


def _placed(row: BoardRow, current: Sequence[BoardRow]) -> BoardRow:
    is_newest = any(row is other for other in current)
    rivals = [
        other.kept
        for other in current
        if (other.data, other.transformation) == (row.data, row.transformation)
        and other.is_ranked
        and other.kept
    ]
    row = replace(row, is_newest=is_newest)
    if not is_newest or not row.is_ranked or row.kept is None:
        return row
    first, last = _rank(row.kept, rivals)
    return replace(row, first=first, last=last, n_ranked=len(rivals))


def _rank(mine: Record, rivals: Sequence[Record]) -> tuple[int, int]:
    less = sum(other.high < mine.low for other in rivals)
    more = sum(other.low > mine.high for other in rivals)
    return less + 1, len(rivals) - more


def _order(row: BoardRow) -> tuple[bool, str, bool, float, str]:
    """Newest runs first, by data; ranked ones by the skill kept."""
    value = row.kept.value if row.kept and row.is_ranked else float("inf")
    return (not row.is_newest, row.data, not row.is_ranked, value, row.model)


def _write(store: Store, folder: Path, made: Board, runs: dict[str, Run]) -> None:
    """The page, and the report of each run: drawn from its numbers, since the page in its folder
    may be anybody's and goes to readers of this one. A report that was drawn here before from the
    same numbers by the same code stays: this folder is the board's own, and whoever writes to it
    can also write what it says of itself.
    """
    reports = store.kept(REPORTS)
    for name, run in runs.items():
        numbers = run.model_dump_json().encode("utf-8", "backslashreplace")
        draw = partial(_encoded_report, run)
        reports.once(f"{name}.html", draw, FILE, of=checksum(_drawing_code() + numbers))
    write_atomically(folder / "index.html", _encoded(render(made.result, "page")))


def _encoded_report(run: Run) -> bytes:
    return _encoded(render(run.result, "page"))


@cache
def _drawing_code() -> bytes:
    """A hash of all of ours that may decide how a report looks beside the run: every file of the
    package, and what is said of the parts, those of plugins too.
    """
    said = [(name, each.title, each.meaning) for name, each in parts(MetricPart).items()]
    said += [(name, each.summary, "") for name, each in parts(TransformationPart).items()]
    found = blake2b(repr(said).encode(), digest_size=16)
    for source in _sources(files("disorder")):
        found.update(blake2b(source.read_bytes(), digest_size=16).digest())
    return found.digest()


def _sources(folder: Traversable) -> Iterator[Traversable]:
    """The files below a folder, always in the same order; none that Python compiled."""
    for each in sorted(folder.iterdir(), key=lambda each: each.name):
        if each.is_dir() and each.name != "__pycache__":
            yield from _sources(each)
        elif each.is_file():
            yield each


def _encoded(html: str) -> bytes:
    return html.encode("utf-8", "backslashreplace")
