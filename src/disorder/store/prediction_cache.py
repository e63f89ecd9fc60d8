"""The prediction cache: predictions on disk, shared between runs and processes, bounded in size,
never trusted unchecked.

One SQLite file (diskcache would pickle values and know no checksum). Every prediction carries a
checksum over its key and all that is kept with it: a damaged one is computed again, a damaged file
is put aside, and a full disk ends caching but not the run.
"""

from __future__ import annotations

import sqlite3
import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from zlib import crc32

import numpy as np

from disorder.types import Bools, Floats
from disorder.types.predictions import ABSTAINS, ANSWERED, FAILED, Prediction, Predictions

# the number goes up when keys or rows are made, or texts are given to models, in another way: two
# versions of the program may share a folder
FILE = "predictions-2.sqlite"
OLDER = "predictions.sqlite"
MAX_BYTES = 2 * 1024**3
CHUNK = 500  # keys in one query
PATIENCE = 60  # seconds to wait for another process
TABLE = """
CREATE TABLE IF NOT EXISTS predictions (
    key BLOB PRIMARY KEY,
    value BLOB NOT NULL,
    outcome TEXT NOT NULL,
    mass REAL,
    checksum INTEGER NOT NULL,
    used INTEGER NOT NULL
) WITHOUT ROWID
"""


KeyParts = Sequence[tuple[str, str]]  # the parts of one input: name and text
KeptRow = tuple[bytes, bytes, str, float | None, int]  # key, value, outcome, mass, checksum


@dataclass(frozen=True, eq=False)
class KeptPredictions:
    """What the cache has for some keys; NaN where `is_kept` is False.

    `masses` are the shares of the probability that the labels got together, NaN where a model does
    not say.
    """

    predictions: Predictions
    masses: Floats
    is_kept: Bools

    @classmethod
    def none(cls, n: int, width: int) -> KeptPredictions:
        """Nothing for n keys."""
        return cls(Predictions.empty(n, width), np.full(n, np.nan), np.zeros(n, dtype=bool))


class PredictionCache:
    """Predictions by (model, precision, input)."""

    def __init__(self, folder: Path, *, max_bytes: int = MAX_BYTES) -> None:
        self.path = folder / FILE
        self.max_bytes = max_bytes
        self.notes: list[str] = []
        self.n_damaged = 0
        self._base: sqlite3.Connection | None = None
        self._open()

    def get(self, keys: Sequence[bytes], width: int) -> KeptPredictions:
        """The predictions for some keys, as far as there are any to trust."""
        found = KeptPredictions.none(len(keys), width)
        places: dict[bytes, list[int]] = {}
        for i, key in enumerate(keys):
            places.setdefault(key, []).append(i)
        for start in range(0, len(keys), CHUNK):
            for row in self._select(list(keys[start : start + CHUNK])):
                kept = _prediction(row, width)
                if kept is None:
                    self.n_damaged += 1
                    continue
                for i in places[row[0]]:
                    found.predictions.values[i] = kept.values
                    found.predictions.outcomes[i] = kept.outcome
                    found.masses[i] = kept.mass
                    found.is_kept[i] = True
        return found

    def put(
        self, keys: Sequence[bytes], predictions: Predictions, masses: Floats | None = None
    ) -> None:
        """Keep predictions; nothing is kept any more once the disk is full."""
        if self._base is None:
            return
        now = time.time_ns()
        values = [row.tobytes() for row in predictions.values.astype("<f4")]
        outcomes = predictions.outcomes.tolist()
        known = [None] * len(keys) if masses is None else map(_number_or_none, masses.tolist())
        rows = [
            (*kept, _checksum(*kept), now)
            for kept in zip(keys, values, outcomes, known, strict=True)
        ]
        try:
            with self._base:
                self._base.executemany(
                    "INSERT OR REPLACE INTO predictions VALUES (?, ?, ?, ?, ?, ?)", rows
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
            older = self.path.with_name(OLDER)
            if older.exists() and not self.path.exists():
                self.notes.append(
                    f"{older} is of an earlier version and not read; it can be removed"
                )
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
        """Let readers and a writer share the file: SQLite does not wait for this lock by itself."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                base.execute("PRAGMA journal_mode=WAL")
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > end:
                    raise
                time.sleep(0.01)

    def _select(self, keys: list[bytes]) -> list[KeptRow]:
        if self._base is None:
            return []
        marks = ",".join("?" * len(keys))
        try:
            return self._base.execute(
                "SELECT key, value, outcome, mass, checksum FROM predictions "
                f"WHERE key IN ({marks})",
                keys,
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


def _prediction(row: KeptRow, width: int) -> Prediction | None:
    """A kept prediction; None where it is not what was put."""
    key, value, outcome, mass, checksum = row
    is_typed = isinstance(value, bytes) and isinstance(outcome, str)
    is_typed = is_typed and (mass is None or isinstance(mass, float))
    if not is_typed or len(value) != 4 * width or _checksum(key, value, outcome, mass) != checksum:
        return None
    values = np.frombuffer(value, dtype="<f4").astype(np.float64)
    of_mass = np.nan if mass is None else mass
    if outcome.startswith(FAILED):
        return Prediction(np.full(width, np.nan), outcome, of_mass)
    is_sound = outcome in (ANSWERED, ABSTAINS) and np.isfinite(values).all()
    return Prediction(values, outcome, of_mass) if is_sound else None


def _checksum(key: bytes, value: bytes, outcome: str, mass: float | None) -> int:
    of_mass = b"" if mass is None else struct.pack("<d", mass)
    return crc32(key + value + outcome.encode("utf-8", "surrogatepass") + of_mass)


def _number_or_none(number: float) -> float | None:
    return None if np.isnan(number) else number


def key_of(model: str, precision: str, segments: KeyParts) -> bytes:
    """Sixteen bytes that stand for one input of one model: the same input has the same key.

    Every field is hashed with its length, so that no text can pass for the border between two.
    """
    hashed = blake2b(digest_size=16)
    for field in (model, precision, *(field for segment in segments for field in segment)):
        content = field.encode("utf-8", "surrogatepass")
        hashed.update(len(content).to_bytes(8, "little") + content)
    return hashed.digest()
