"""The answers of a task, kept in SQLite: one transaction per answer, nothing is ever deleted; and
answers and items as CSV or JSONL, of which a file is checked as a whole before anything is stored.

An answer is identified by (annotator, item, attempt), so a request that arrives twice is stored
once. Undoing marks an answer as undone; the next answer to that item is a new attempt. The answer
that counts is the one that is not undone.
"""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from disorder.errors import BadData, DisorderError, UnknownName, option
from disorder.results.row_export import cell_text, csv_text
from disorder.safe_io import parse_json, read_file
from disorder.store.storage import cannot_write, write_named_file
from disorder.verbs.human.task_folder import (
    ANSWERS,
    MAX_NAME,
    HumanTask,
    is_annotator_name,
    read_items,
    read_task,
)

TABLE = """
CREATE TABLE IF NOT EXISTS answers (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    annotator TEXT NOT NULL,
    item TEXT NOT NULL,
    attempt INTEGER NOT NULL CHECK (attempt >= 1),
    answer TEXT NOT NULL,
    seconds REAL,
    at TEXT NOT NULL,
    source TEXT NOT NULL,
    undone TEXT,
    UNIQUE (annotator, item, attempt)
);
CREATE UNIQUE INDEX IF NOT EXISTS one_that_counts ON answers (annotator, item) WHERE undone IS NULL;
"""
COLUMNS = "annotator, item, attempt, answer, seconds, at, source, undone"
WAIT = 30.0  # seconds to wait for another writer


class StaleAnswer(DisorderError):
    """An answer from a page that is out of date; nothing was stored."""


@dataclass(frozen=True)
class HumanAnswer:
    """One answer of an annotator; `undone` is the time at which it was undone."""

    annotator: str
    item: str
    attempt: int
    answer: str
    seconds: float | None
    at: str
    source: str = "page"
    undone: str | None = None


@dataclass(frozen=True)
class AnswerStore:
    """The answers of one task folder; a connection lives for one call, in any thread."""

    folder: Path

    @property
    def path(self) -> Path:
        """The database file."""
        return self.folder / ANSWERS

    def answer(
        self, annotator: str, item: str, attempt: int, answer: str, seconds: float | None
    ) -> bool:
        """Store an answer durably; False when the same one was stored before, an error when another
        one was, in a second window.
        """
        with self._writing() as connection:
            known = _attempts(connection, annotator, item)
            if attempt in known:
                if known[attempt] != answer:
                    raise StaleAnswer(
                        f"item {item} was answered otherwise in another window; reload the page"
                    )
                return False
            if attempt != len(known) + 1:
                raise StaleAnswer(f"item {item} was answered in another window; reload the page")
            given = HumanAnswer(annotator, item, attempt, answer, seconds, _now())
            try:
                _insert(connection, given)
            except sqlite3.IntegrityError:
                raise StaleAnswer(
                    f"item {item} has an answer that was not undone; reload the page"
                ) from None
        return True

    def undo(self, annotator: str, item: str, attempt: int) -> bool:
        """Undo one answer but keep it in the history; False when it was undone before."""
        with self._writing() as connection:
            done = connection.execute(
                "UPDATE answers SET undone = ? "
                "WHERE annotator = ? AND item = ? AND attempt = ? AND undone IS NULL",
                (_now(), annotator, item, attempt),
            )
            return done.rowcount == 1

    def add(self, answers: list[HumanAnswer]) -> int:
        """Store imported answers, all or none, and return how many of them are new."""
        n_new = 0
        with self._writing() as connection:
            for given in answers:
                counting = connection.execute(
                    "SELECT answer FROM answers "
                    "WHERE annotator = ? AND item = ? AND undone IS NULL",
                    (given.annotator, given.item),
                ).fetchone()
                if counting is None:
                    attempt = len(_attempts(connection, given.annotator, given.item)) + 1
                    _insert(connection, replace(given, attempt=attempt))
                    n_new += 1
                elif counting[0] != given.answer:
                    raise StaleAnswer(
                        f"{given.annotator} answered {given.item} with {counting[0]!r} before"
                    )
        return n_new

    def answers(
        self, annotator: str | None = None, *, with_undone: bool = False
    ) -> list[HumanAnswer]:
        """The answers that count, in the order they were given; `with_undone` adds the others."""
        if not self.path.exists():
            return []
        conditions = []
        values = []
        if not with_undone:
            conditions.append("undone IS NULL")
        if annotator is not None:
            conditions.append("annotator = ?")
            values.append(annotator)
        where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
        with self._open() as connection:
            found = connection.execute(
                f"SELECT {COLUMNS} FROM answers {where} ORDER BY number", values
            )
            return [HumanAnswer(*row) for row in found]

    def attempt(self, annotator: str, item: str) -> int:
        """The number of the next attempt at an item."""
        with self._open() as connection:
            return len(_attempts(connection, annotator, item)) + 1

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: on disk when it ends, rolled back when it fails."""
        with self._open() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        if self.path.is_symlink():
            raise BadData(f"{self.path} is a symbolic link; nothing is written where it leads")
        connection = None
        try:
            connection = sqlite3.connect(self.path, timeout=WAIT, isolation_level=None)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.executescript(TABLE)
            yield connection
        except sqlite3.Error as error:
            raise BadData(f"{self.path}: {error}; nothing was stored") from None
        finally:
            if connection is not None:
                connection.close()


def _attempts(connection: sqlite3.Connection, annotator: str, item: str) -> dict[int, str]:
    """The answers of an annotator to an item, by attempt."""
    found = connection.execute(
        "SELECT attempt, answer FROM answers WHERE annotator = ? AND item = ?", (annotator, item)
    )
    return dict(found.fetchall())


def _insert(connection: sqlite3.Connection, given: HumanAnswer) -> None:
    row = tuple(vars(given)[name] for name in COLUMNS.split(", "))
    connection.execute(f"INSERT INTO answers ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


Exported = Literal["answers", "items", "history"]
WHAT = ("answers", "items", "history")
NEEDED = ("item", "annotator", "answer")
NOTHING = "nothing was imported"
MAX_IMPORT = 256 * 1024**2  # bytes
PlacedRow = tuple[str, Mapping[str, Any]]  # its place in the file ("row 3"), and its columns


def export(folder: str | Path, out: str | Path, *, what: Exported = "answers") -> int:
    """Write the answers that count, the items to show, or every answer ever given, to a .csv or
    .jsonl file, and return the number of rows.
    """
    out = Path(out)
    text, n = exported(folder, what=what, ending=_suffix(out, "--out"))
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(out, error) from None
    write_named_file(out, text.encode("utf-8"))
    return n


def exported(
    folder: str | Path, *, what: Exported = "answers", ending: str = ".csv"
) -> tuple[str, int]:
    """The same as text, and the number of rows."""
    folder = Path(folder)
    if what not in WHAT:
        raise UnknownName(f"thing to export ({option('what')})", what, WHAT)
    read_task(folder)
    if what == "items":
        rows = _item_rows(folder)
    else:
        rows = _answer_rows(folder, with_undone=what == "history")
    if not rows:
        raise DisorderError(f"{folder} holds no answers yet; nothing to export")
    if ending == ".jsonl":
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    else:
        text = csv_text(list(rows[0]), (row.values() for row in rows), is_exact=True)
    return text, len(rows)


def import_answers(folder: str | Path, file: str | Path) -> tuple[int, int]:
    """Store the answers of a file, all or none; returns how many are new, and how many not."""
    folder = Path(folder)
    file = Path(file)
    task = read_task(folder)
    items = {item.item for item in read_items(folder)}
    store = AnswerStore(folder)
    known = {(answer.annotator, answer.item): answer.answer for answer in store.answers()}
    given: dict[tuple[str, str], tuple[str, HumanAnswer]] = {}
    n_rows = 0
    read = _read_jsonl if _suffix(file, "the file") == ".jsonl" else _read_csv
    for where, row in read(file):
        n_rows += 1
        answer = _checked(f"{file.name}, {where}", row, task, items)
        place = answer.annotator, answer.item
        before = given[place][1].answer if place in given else known.get(place)
        if before is not None and before != answer.answer:
            first = f"in {given[place][0]}" if place in given else "in the task folder"
            raise BadData(
                f"{file.name}, {where}: {answer.annotator} answers {answer.item} with "
                f"{answer.answer!r}, but {first} with {before!r}; {NOTHING}"
            )
        given.setdefault(place, (where, answer))
    if not n_rows:
        raise BadData(f"{file} holds no answers")
    try:
        n_new = store.add([answer for _, answer in given.values()])
    except StaleAnswer as error:
        raise BadData(f"{file.name}: {error}; {NOTHING}") from None
    return n_new, n_rows - n_new


def _checked(where: str, row: Mapping[str, Any], task: HumanTask, items: set[str]) -> HumanAnswer:
    """One row as an answer, or an error that says what is wrong with it."""
    item = _cell(row, "item")
    annotator = _cell(row, "annotator")
    answer = _cell(row, "answer")
    if item not in items:
        raise BadData(f"{where}: {item!r} is not an item of this task; {NOTHING}")
    if not is_annotator_name(annotator):
        raise BadData(
            f"{where}: {annotator[:MAX_NAME]!r} cannot be the name of an annotator; {NOTHING}"
        )
    if answer not in task.labels:
        labels = ", ".join(task.labels)
        raise BadData(f"{where}: answer {answer!r} is none of {labels}; {NOTHING}")
    seconds = _seconds(where, row.get("seconds"))
    at = str(row.get("at") or "") or datetime.now(UTC).isoformat(timespec="milliseconds")
    return HumanAnswer(annotator, item, 0, answer, seconds, at, "import")


def _cell(row: Mapping[str, Any], column: str) -> str:
    value = row.get(column)
    return "" if value is None else str(value).strip()


def _seconds(where: str, value: Any) -> float | None:
    if value is None or value == "":
        return None
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise BadData(f"{where}: seconds {value!r} is not a time; {NOTHING}")
    return seconds


def _item_rows(folder: Path) -> list[dict[str, Any]]:
    task = read_task(folder)
    columns = {"item", "text_a"}
    if len(task.text_names) > 1:
        columns.add("text_b")
    asked = {"question": task.question, "labels": "|".join(task.labels)}
    return [item.model_dump(include=columns) | asked for item in read_items(folder)]


def _answer_rows(folder: Path, *, with_undone: bool) -> list[dict[str, Any]]:
    columns = ["item", "annotator", "answer", "seconds", "at", "source", "attempt"]
    if with_undone:
        columns.append("undone")
    answers = AnswerStore(folder).answers(with_undone=with_undone)
    return [{name: vars(answer)[name] for name in columns} for answer in answers]


def _suffix(path: Path, what: str) -> str:
    if path.suffix.lower() not in (".csv", ".jsonl"):
        raise DisorderError(f"{what} {path}: name it .csv or .jsonl")
    return path.suffix.lower()


def _read_csv(file: Path) -> Iterator[PlacedRow]:
    """Rows numbered as a spreadsheet shows them: the header is row 1."""
    reader = csv.DictReader(io.StringIO(_text(file), newline=""), strict=True)
    try:
        _check_columns(file.name, reader.fieldnames or ())
        for number, row in enumerate(reader, start=2):
            if None in row or None in row.values():
                raise BadData(
                    f"{file.name}, row {number}: not as many columns as the header has; {NOTHING}"
                )
            yield f"row {number}", {name: cell_text(cell) for name, cell in row.items()}
    except csv.Error as error:
        raise BadData(f"{file.name}, line {reader.line_num}: {error}; {NOTHING}") from None


def _read_jsonl(file: Path) -> Iterator[PlacedRow]:
    for number, line in enumerate(_text(file).split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{file.name}, line {number}"
        try:
            row = parse_json(line, where)
        except BadData as error:
            raise BadData(f"{where}: not JSON ({error}); {NOTHING}") from None
        if not isinstance(row, dict):
            raise BadData(f"{where}: expected an object with columns; {NOTHING}")
        _check_columns(where, row)
        yield f"line {number}", row


def _check_columns(where: str, names: Iterable[str]) -> None:
    present = set(names)
    missing = [name for name in NEEDED if name not in present]
    if missing:
        needed = ", ".join(NEEDED)
        raise BadData(f"{where}: no column {missing[0]!r}; needed are {needed}; {NOTHING}")


def _text(file: Path) -> str:
    try:
        return read_file(file, max_bytes=MAX_IMPORT).decode("utf-8-sig")
    except (FileNotFoundError, UnicodeDecodeError) as error:
        why = error if isinstance(error, UnicodeDecodeError) else "No such file or directory"
        raise BadData(f"{file} cannot be read ({why})") from None
