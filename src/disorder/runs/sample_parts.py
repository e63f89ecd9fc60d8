"""Parts of the samples: Parquet files of a run folder, and the journal that knows them.

A part is written whole or not at all, and named before it is predicted, so that a run that was
killed knows which parts it has. The journal keeps a checksum of each; a part that does not match
is predicted again.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from disorder.errors import BadData
from disorder.runs.samples import SCHEMA
from disorder.runs.storage import add_line, cannot_write, is_on_disk, write_atomically
from disorder.untrusted_files import MAX_JSON, MAX_PARQUET, parse_json, parse_parquet, read_file

JOURNAL = "journal.jsonl"
PART = re.compile(r"\d{2,}-[^/\\\x00-\x1f]*\.parquet")


@dataclass
class SampleParts:
    """The parts of a run folder."""

    folder: Path
    of: str = ""  # what the parts are bound to (`Run.binding`)
    known: dict[str, dict[str, Any]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @classmethod
    def new(cls, folder: Path, *, of: str = "") -> SampleParts:
        """No parts yet; what a folder holds of another run is not looked at."""
        _make_folder(folder / "samples")
        return cls(folder / "samples", of)

    @classmethod
    def open(cls, folder: Path, *, to_write: bool = True, of: str = "") -> SampleParts:
        """The parts that a folder has so far; a line cut off by a crash is not one, and one of
        another run (model, data or settings) never counts.
        """
        if to_write:
            _make_folder(folder / "samples")
        elif not (folder / "samples").is_dir():
            raise BadData(f"{folder} has no samples; they were removed, or it is no run folder")
        parts = cls(folder / "samples", of)
        journal = parts.folder / JOURNAL
        content = b""
        if journal.exists():
            content = read_file(journal, max_bytes=MAX_JSON)
        if to_write and content and not content.endswith(b"\n") and is_on_disk(journal):
            add_line(journal, b"\n", content)  # a line torn by a crash must not swallow the next
        entries = {entry["part"]: entry for entry in _entries(content)}  # the last one counts
        parts.known = {
            name: entry
            for name, entry in entries.items()
            if not of or _is_of(entry, of, to_write=to_write)
        }
        if entries and not parts.known and not to_write:
            raise BadData(
                f"{folder}: its samples are of another model, data or settings than run.json says; "
                "audit it again"
            )
        return parts

    def read(self, name: str) -> tuple[pa.Table, dict[str, int]] | None:
        """A finished part with the examples it left out, or None when it has to be predicted."""
        entry = self.known.get(name)
        if entry is None:
            return None
        try:
            content = read_file(self.folder / name, max_bytes=MAX_PARQUET)
            if _checksum(content) == entry["checksum"]:
                return parse_parquet(content, name, schema=SCHEMA), entry["skips"]
        except (FileNotFoundError, BadData):
            pass
        self.notes.append(f"{name} is damaged; it is predicted again")
        return None

    def table(self) -> pa.Table:
        """All finished parts as one table; raises where one is missing or damaged."""
        tables = []
        for name in sorted(self.known):
            read = self.read(name)
            if read is None:
                raise BadData(f"{self.folder / name} is missing or damaged; audit it again")
            tables.append(read[0])
        return pa.concat_tables(tables) if tables else SCHEMA.empty_table()

    @property
    def spent(self) -> dict[str, float]:
        """What all sessions of the run had spent when the last part was written."""
        entries = [entry.get("spent", {}) for entry in self.known.values()]
        names = sorted({name for entry in entries for name in entry})
        return {name: max(entry.get(name, 0.0) for entry in entries) for name in names}

    def write(
        self,
        name: str,
        table: pa.Table,
        skips: Mapping[str, int],
        spent: Mapping[str, float] | None = None,
    ) -> None:
        """Add a part: the file first, then its line in the journal.

        `spent` is what the run has spent by then: a run that is killed cannot say so itself.
        """
        sink = pa.BufferOutputStream()
        pq.write_table(table, sink, compression="zstd")
        content = sink.getvalue().to_pybytes()
        entry = {
            "part": name,
            "of": self.of,
            "checksum": _checksum(content),
            "skips": dict(sorted(skips.items())),
            "rows": table.num_rows,
        }
        if spent:
            entry["spent"] = dict(spent)
        write_atomically(self.folder / name, content)
        add_line(self.folder / JOURNAL, _line(entry), b"".join(map(_line, self.known.values())))
        self.known[name] = entry


def _line(entry: Mapping[str, Any]) -> bytes:
    return (json.dumps(entry, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise cannot_write(folder, error) from None


def _is_of(entry: Mapping[str, Any], of: str, *, to_write: bool) -> bool:
    """Whether a part was made for this run; older versions did not say, and theirs are read but
    not resumed.
    """
    return bool(entry.get("of") == of or (not to_write and "of" not in entry))


def _entries(content: bytes) -> Iterator[dict[str, Any]]:
    for line in content.split(b"\n"):
        try:
            entry = parse_json(line, JOURNAL)
        except BadData:
            continue
        if _is_entry(entry):
            yield entry


def _is_entry(entry: Any) -> bool:
    """Whether a line of the journal says what it has to; a part is a file of its own folder."""
    if not isinstance(entry, dict) or not {"part", "checksum", "skips"} <= set(entry):
        return False
    part, skips = entry["part"], entry["skips"]
    is_name = isinstance(part, str) and PART.fullmatch(part) is not None
    is_counted = isinstance(skips, dict) and all(type(n) is int for n in skips.values())
    return is_name and is_counted and _are_amounts(entry.get("spent", {}))


def _are_amounts(spent: Any) -> bool:
    return isinstance(spent, dict) and all(
        type(amount) in (int, float) and 0 <= amount < math.inf for amount in spent.values()
    )


def _checksum(content: bytes) -> str:
    return blake2b(content, digest_size=16).hexdigest()
