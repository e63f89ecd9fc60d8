"""Where are the answers kept? SQLite in the task folder: one transaction an answer, nothing is ever
deleted.

An answer is known by (annotator, item, attempt), so a request that comes twice is stored once.
Undoing marks an answer as undone; the next answer to that item is a new attempt. What counts is the
one answer of an item that is not undone.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from disorder.errors import BadData, DisorderError
from disorder.verbs.human.task import ANSWERS

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


class Stale(DisorderError):
    """An answer that belongs to a page which is no longer true; nothing was stored."""


@dataclass(frozen=True)
class Answer:
    """One answer that was given; `undone` says when it was taken back."""

    annotator: str
    item: str
    attempt: int
    answer: str
    seconds: float | None
    at: str
    source: str = "page"
    undone: str | None = None


@dataclass(frozen=True)
class Store:
    """The answers of one task folder. A connection lives for one call, so any thread or process may
    use it.
    """

    folder: Path

    @property
    def path(self) -> Path:
        """The file they are in."""
        return self.folder / ANSWERS

    def answer(
        self, annotator: str, item: str, attempt: int, answer: str, seconds: float | None
    ) -> bool:
        """Store an answer for good; False when this attempt was stored before, whatever it said
        then.
        """
        with self._writing() as connection:
            known = _attempts(connection, annotator, item)
            if attempt in known:
                return False
            if attempt != len(known) + 1:
                raise Stale(f"item {item} was answered elsewhere in the meantime; reload the page")
            given = Answer(annotator, item, attempt, answer, seconds, _now())
            try:
                _insert(connection, given)
            except sqlite3.IntegrityError:
                raise Stale(
                    f"item {item} has an answer that was not undone; reload the page"
                ) from None
        return True

    def undo(self, annotator: str, item: str, attempt: int) -> bool:
        """Take one answer back but keep it in the history; False when that was done before."""
        with self._writing() as connection:
            done = connection.execute(
                "UPDATE answers SET undone = ? WHERE annotator = ? AND item = ? AND attempt = ? AND undone IS NULL",
                (_now(), annotator, item, attempt),
            )
            return done.rowcount == 1

    def add(self, answers: list[Answer]) -> int:
        """Store answers that came from elsewhere, all or none; how many of them are new."""
        n_new = 0
        with self._writing() as connection:
            for given in answers:
                counting = connection.execute(
                    "SELECT answer FROM answers WHERE annotator = ? AND item = ? AND undone IS NULL",
                    (given.annotator, given.item),
                ).fetchone()
                if counting is None:
                    attempt = len(_attempts(connection, given.annotator, given.item)) + 1
                    _insert(connection, Answer(**{**vars(given), "attempt": attempt}))
                    n_new += 1
                elif counting[0] != given.answer:
                    raise Stale(
                        f"{given.annotator} answered {given.item} with {counting[0]!r} before"
                    )
        return n_new

    def answers(self, annotator: str | None = None, *, with_undone: bool = False) -> list[Answer]:
        """The answers that count, in the order they were given; with those taken back, if asked
        for.
        """
        if not self.path.exists():
            return []
        wanted = [] if with_undone else ["undone IS NULL"]
        wanted += [] if annotator is None else ["annotator = ?"]
        where = f"WHERE {' AND '.join(wanted)}" if wanted else ""
        with self._open() as connection:
            found = connection.execute(
                f"SELECT {COLUMNS} FROM answers {where} ORDER BY number",
                () if annotator is None else (annotator,),
            )
            return [Answer(*row) for row in found]

    def attempt(self, annotator: str, item: str) -> int:
        """The number of the next attempt at an item."""
        with self._open() as connection:
            return len(_attempts(connection, annotator, item)) + 1

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction, on disk when it ends; undone as a whole when it fails."""
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


def _insert(connection: sqlite3.Connection, given: Answer) -> None:
    row = tuple(vars(given)[name] for name in COLUMNS.split(", "))
    connection.execute(f"INSERT INTO answers ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
