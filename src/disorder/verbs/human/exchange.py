"""How do answers come from elsewhere, and go there? CSV or JSONL, checked as a whole before
anything is stored.
"""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from disorder.errors import BadData, DisorderError, UnknownName
from disorder.verbs.human.store import Answer, Stale, Store
from disorder.verbs.human.task import MAX_NAME, HumanTask, can_be_named, read_items, read_task

WHATS = ("answers", "items", "history")
NEEDED = ("item", "annotator", "answer")
Row = tuple[str, Mapping[str, Any]]  # where it stands ("row 3"), and its columns


def export(folder: Path, out: Path, *, what: str = "answers") -> int:
    """Write the answers that count, the items to be shown, or every answer ever given; how many
    rows that is.
    """
    if what not in WHATS:
        raise UnknownName("thing to export (--what)", what, WHATS)
    write = _writer(out)
    read_task(folder)
    rows = _items(folder) if what == "items" else _answers(folder, with_undone=what == "history")
    if not rows:
        raise DisorderError(f"{folder} holds no answers yet; nothing to export")
    write(out, rows)
    return len(rows)


def import_answers(folder: Path, file: Path) -> tuple[int, int]:
    """Store the answers of a file, all or none; how many are new, and how many were there before."""
    task, items = read_task(folder), {item.item for item in read_items(folder)}
    given: dict[tuple[str, str], tuple[str, Answer]] = {}
    store = Store(folder)
    known = {(a.annotator, a.item): a.answer for a in store.answers()}
    n_rows = 0
    for where, row in _reader(file)(file):
        n_rows += 1
        answer = _checked(f"{file.name}, {where}", row, task, items)
        place = answer.annotator, answer.item
        before = given[place][1].answer if place in given else known.get(place)
        if before is not None and before != answer.answer:
            first = f"in {given[place][0]}" if place in given else "in the task folder"
            raise BadData(
                f"{file.name}, {where}: {answer.annotator} answers {answer.item} with {answer.answer!r}, but {first} "
                f"with {before!r}; nothing was imported"
            )
        given.setdefault(place, (where, answer))
    if not n_rows:
        raise BadData(f"{file} holds no answers")
    try:
        n_new = store.add([answer for _, answer in given.values()])
    except Stale as error:
        raise BadData(f"{file.name}: {error}; nothing was imported") from None
    return n_new, n_rows - n_new


def _checked(where: str, row: Mapping[str, Any], task: HumanTask, items: set[str]) -> Answer:
    """One row as an answer; one line on what is wrong with it."""
    item, annotator, answer = (
        str("" if row.get(name) is None else row[name]).strip() for name in NEEDED
    )
    if item not in items:
        raise BadData(f"{where}: {item!r} is no item of this task; nothing was imported")
    if not can_be_named(annotator):
        raise BadData(
            f"{where}: {annotator[:MAX_NAME]!r} cannot be the name of an annotator; nothing was imported"
        )
    if answer not in task.labels:
        raise BadData(
            f"{where}: answer {answer!r} is none of {', '.join(task.labels)}; nothing was imported"
        )
    at = str(row.get("at") or "") or datetime.now(UTC).isoformat(timespec="milliseconds")
    return Answer(annotator, item, 0, answer, _seconds(where, row.get("seconds")), at, "import")


def _seconds(where: str, value: Any) -> float | None:
    if value is None or value == "":
        return None
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise BadData(f"{where}: seconds {value!r} is not a time; nothing was imported")
    return seconds


def _items(folder: Path) -> list[dict[str, Any]]:
    task, items = read_task(folder), read_items(folder)
    asked = {"question": task.question, "labels": "|".join(task.labels)}
    columns = ("item", "text_a", "text_b") if len(task.text_names) > 1 else ("item", "text_a")
    return [{**item.model_dump(include=set(columns)), **asked} for item in items]


def _answers(folder: Path, *, with_undone: bool) -> list[dict[str, Any]]:
    columns = [
        "item",
        "annotator",
        "answer",
        "seconds",
        "at",
        "source",
        "attempt",
        *(["undone"] if with_undone else []),
    ]
    found = Store(folder).answers(with_undone=with_undone)
    return [{name: vars(answer)[name] for name in columns} for answer in found]


def _writer(out: Path) -> Any:
    return _write_jsonl if _suffix(out, "--out") == ".jsonl" else _write_csv


def _reader(file: Path) -> Any:
    return _read_jsonl if _suffix(file, "the file") == ".jsonl" else _read_csv


def _suffix(path: Path, what: str) -> str:
    if str(path) == "-":
        return ".csv"
    if path.suffix.lower() not in (".csv", ".jsonl"):
        raise DisorderError(f"{what} {path}: name it .csv or .jsonl")
    return path.suffix.lower()


def _write_csv(out: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    _write(out, text.getvalue())


def _write_jsonl(out: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    _write(out, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def _write(out: Path, text: str) -> None:
    if str(out) == "-":
        sys.stdout.write(text)
        return
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise DisorderError(f"--out {out} cannot be written ({error.strerror or error})") from None


def _read_csv(file: Path) -> Iterator[Row]:
    """Rows numbered as a spreadsheet shows them: the header is row 1."""
    reader = csv.DictReader(io.StringIO(_text(file), newline=""), strict=True)
    try:
        _check_columns(file.name, reader.fieldnames or ())
        for number, row in enumerate(reader, start=2):
            if None in row or None in row.values():
                raise BadData(
                    f"{file.name}, row {number}: not as many columns as the header has; nothing was imported"
                )
            yield f"row {number}", row
    except csv.Error as error:
        raise BadData(
            f"{file.name}, line {reader.line_num}: {error}; nothing was imported"
        ) from None


def _read_jsonl(file: Path) -> Iterator[Row]:
    for number, line in enumerate(_text(file).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise BadData(
                f"{file.name}, line {number}: no JSON ({error}); nothing was imported"
            ) from None
        if not isinstance(row, dict):
            raise BadData(
                f"{file.name}, line {number}: expected an object with columns; nothing was imported"
            )
        _check_columns(f"{file.name}, line {number}", row)
        yield f"line {number}", row


def _check_columns(where: str, names: Iterable[str]) -> None:
    missing = [name for name in NEEDED if name not in set(names)]
    if missing:
        raise BadData(
            f"{where}: no column {missing[0]!r}; needed are {', '.join(NEEDED)}; nothing was imported"
        )


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadData(
            f"{file} cannot be read ({getattr(error, 'strerror', None) or error})"
        ) from None
