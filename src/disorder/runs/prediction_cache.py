"""The prediction cache: predictions on disk, shared between runs and processes, bounded in size,
never trusted unchecked.

One SQLite file (diskcache would pickle values and know no checksum). Every prediction carries a
checksum over its key and value: a damaged one is computed again, a damaged file is put aside, and a
full disk ends caching but not the run.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from zlib import crc32

import numpy as np

from disorder.types import Floats, Texts

FILE = "predictions.sqlite"
MAX_BYTES = 2 * 1024**3
CHUNK = 500  # keys in one query
PATIENCE = 60  # seconds to wait for another process
TABLE = """
CREATE TABLE IF NOT EXISTS predictions (
    key BLOB PRIMARY KEY,
    value BLOB NOT NULL,
    checksum INTEGER NOT NULL,
    used INTEGER NOT NULL
) WITHOUT ROWID
"""


class PredictionCache:
    """Predictions by (model, precision, input)."""

    def __init__(self, folder: Path, *, max_bytes: int = MAX_BYTES) -> None:
        self.path = folder / FILE
        self.max_bytes = max_bytes
        self.notes: list[str] = []
        self.n_damaged = 0
        self._base: sqlite3.Connection | None = None
        self._open()

    def get(self, keys: Sequence[bytes], width: int) -> Floats:
        """The predictions, one row per key; NaN where there is none to trust."""
        found = np.full((len(keys), width), np.nan)
        places = {key: i for i, key in enumerate(keys)}
        for start in range(0, len(keys), CHUNK):
            for key, value, checksum in self._select(list(keys[start : start + CHUNK])):
                row = _prediction(key, value, checksum, width)
                if row is None:
                    self.n_damaged += 1
                else:
                    found[places[key]] = row
        return found[[places[key] for key in keys]]

    def put(self, keys: Sequence[bytes], predictions: Floats) -> None:
        """Keep predictions; nothing is kept any more once the disk is full."""
        if self._base is None:
            return
        now = time.time_ns()
        values = [row.tobytes() for row in predictions.astype("<f4")]
        rows = [
            (key, value, crc32(key + value), now) for key, value in zip(keys, values, strict=True)
        ]
        try:
            with self._base:
                self._base.executemany(
                    "INSERT OR REPLACE INTO predictions VALUES (?, ?, ?, ?)", rows
                )
            self._shrink()
        except sqlite3.DatabaseError as error:
            self._give_up(error)

    def close(self) -> None:
        """Close the file."""
        if self._base is not None:
            self._base.close()
            self._base = None

    def _open(self) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._base = self._connect()
        # locked, no room, no right: the file may be sound
        except (OSError, sqlite3.OperationalError) as error:
            self.notes.append(f"no prediction cache: {self.path.parent} cannot be used ({error})")
        except sqlite3.DatabaseError:
            self._put_aside()

    def _put_aside(self) -> None:
        """Start a new file beside one that is no database any more."""
        name = f"{FILE}.damaged-{time.time_ns()}"
        try:
            for suffix in ("-wal", "-shm", ""):
                beside = self.path.with_name(FILE + suffix)
                if beside.exists():
                    beside.replace(self.path.with_name(name + suffix))
            self._base = self._connect()
            self.notes.append(f"the prediction cache is damaged; it was put aside as {name}")
        except (OSError, sqlite3.DatabaseError) as error:
            self.notes.append(f"no prediction cache: {error}")

    def _connect(self) -> sqlite3.Connection:
        base = sqlite3.connect(self.path, timeout=PATIENCE)
        self._write_ahead(base)
        base.execute("PRAGMA synchronous=NORMAL")
        base.execute(TABLE)
        base.execute("SELECT key FROM predictions LIMIT 1").fetchall()
        return base

    def _write_ahead(self, base: sqlite3.Connection) -> None:
        """Let readers and a writer share the file. SQLite does not wait for this lock by itself:
        two at once would collide.
        """
        end = time.monotonic() + PATIENCE
        while True:
            try:
                base.execute("PRAGMA journal_mode=WAL")
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > end:
                    raise
                time.sleep(0.01)

    def _select(self, keys: list[bytes]) -> list[tuple[bytes, bytes, int]]:
        if self._base is None:
            return []
        marks = ",".join("?" * len(keys))
        try:
            return self._base.execute(
                f"SELECT key, value, checksum FROM predictions WHERE key IN ({marks})", keys
            ).fetchall()
        except sqlite3.DatabaseError as error:
            self._give_up(error)
            return []

    def _shrink(self) -> None:
        """Forget the predictions that were kept longest ago once the file is too large."""
        pages = self._number("PRAGMA page_count") - self._number("PRAGMA freelist_count")
        if pages * self._number("PRAGMA page_size") <= self.max_bytes or self._base is None:
            return
        n = self._number("SELECT count(*) FROM predictions")
        with self._base:
            self._base.execute(
                "DELETE FROM predictions WHERE key IN "
                "(SELECT key FROM predictions ORDER BY used LIMIT ?)",
                (n // 4 + 1,),
            )

    def _number(self, query: str) -> int:
        return 0 if self._base is None else int(self._base.execute(query).fetchone()[0])

    def _give_up(self, error: sqlite3.DatabaseError) -> None:
        self.notes.append(f"the prediction cache is not used any more ({error})")
        self.close()


def _prediction(key: bytes, value: bytes, checksum: int, width: int) -> Floats | None:
    """A kept prediction; None where it is not what a model can have predicted."""
    if not isinstance(value, bytes) or len(value) != 4 * width or crc32(key + value) != checksum:
        return None
    row = np.frombuffer(value, dtype="<f4").astype(np.float64)
    return row if np.isfinite(row).all() else None


def key_of(model: str, precision: str, texts: Texts) -> bytes:
    """Sixteen bytes that stand for one input of one model: the same text has the same key."""
    a, b = texts
    parts = "\0".join([model, precision, a, "\1" if b is None else "\2" + b])
    return blake2b(parts.encode("utf-8", "surrogatepass"), digest_size=16).digest()
