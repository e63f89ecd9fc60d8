"""The answers of a task, kept in SQLite: one transaction per answer, nothing is ever deleted.

An answer is identified by (annotator, item, attempt), so a request that arrives twice is stored
once. Undoing marks an answer as undone; the next answer to that item is a new attempt. The answer
that counts is the one that is not undone.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from disorder.errors import BadData, DisorderError
from disorder.verbs.human.task_folder import ANSWERS

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
    """The answers of one task folder.

    A connection lives for one call, so any thread or process may use the store.
    """

    folder: Path

    @property
    def path(self) -> Path:
        """The database file."""
        return self.folder / ANSWERS

    def answer(
        self, annotator: str, item: str, attempt: int, answer: str, seconds: float | None
    ) -> bool:
        """Store an answer durably; False when the same one was stored before.

        Another answer to an attempt that has one comes from a second window: it is not stored, and
        says so.
        """
        with self._writing() as connection:
            known = _attempts(connection, annotator, item)
            if attempt in known:
                if _given(connection, annotator, item, attempt) != answer:
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


def _attempts(connection: sqlite3.Connection, annotator: str, item: str) -> set[int]:
    found = connection.execute(
        "SELECT attempt FROM answers WHERE annotator = ? AND item = ?", (annotator, item)
    )
    return {row[0] for row in found}


def _given(connection: sqlite3.Connection, annotator: str, item: str, attempt: int) -> str:
    found = connection.execute(
        "SELECT answer FROM answers WHERE annotator = ? AND item = ? AND attempt = ?",
        (annotator, item, attempt),
    ).fetchone()
    return str(found[0])


def _insert(connection: sqlite3.Connection, given: HumanAnswer) -> None:
    row = tuple(vars(given)[name] for name in COLUMNS.split(", "))
    connection.execute(f"INSERT INTO answers ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
