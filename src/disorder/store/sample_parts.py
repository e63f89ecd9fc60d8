"""Parts of the samples: Parquet files of a run folder, and the journal that knows them.

A part is written whole or not at all, and named before it is predicted, so that a run that was
killed knows which parts it has. The journal keeps a checksum of each; a part that does not match
is predicted again. Texts are rebuilt from positions and the examples, which lie beside them.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from disorder.errors import BadData
from disorder.safe_io import most_unpacked, one_line, parse_parquet, read_parquet
from disorder.store.samples import READ_SCHEMA, SCHEMA, check_unique, checked_samples, storable
from disorder.store.storage import write_atomically
from disorder.store.store import Entry, Kept
from disorder.types import ORIGINAL, TEXT_NAMES, Example

SAMPLES = "samples"  # their folder
PART = re.compile(r"\d{2,}-[^/\\\x00-\x1f]*\.parquet")
EXAMPLES = pa.schema(
    [
        ("id", pa.string()),
        ("text_a", pa.string()),
        ("text_b", pa.string()),
        ("label", pa.string()),
        ("groups", pa.map_(pa.string(), pa.string())),
        ("options", pa.list_(pa.string())),
        ("ask", pa.string()),
        ("segments", pa.string()),  # as JSON, where there are others than the two texts
        ("on", pa.list_(pa.string())),
        ("family", pa.string()),
        ("guess", pa.float64()),  # what a guess scores, where each example has its own
    ]
)


@dataclass
class SampleParts:
    """The parts of a run folder."""

    kept: Kept
    of: str = ""  # what the parts are bound to (`Run.binding`)
    n_labels: int | None = None  # of the data; None where it is not known

    @classmethod
    def new(cls, folder: Path, *, of: str = "", n_labels: int | None = None) -> SampleParts:
        """No parts yet; what a folder holds of another run is not looked at."""
        kept = Kept(folder / SAMPLES)
        kept.known = {}
        return cls(kept, of, n_labels)

    @classmethod
    def open(
        cls, folder: Path, *, to_write: bool = True, of: str = "", n_labels: int | None = None
    ) -> SampleParts:
        """The parts that a folder has so far; one of another run never counts."""
        parts = cls(Kept(folder / SAMPLES), of, n_labels)
        if to_write:
            return parts
        if not (folder / SAMPLES).is_dir():
            raise BadData(f"{folder} has no samples; they were removed, or it is no run folder")
        # older versions did not say what a part is of; theirs are read but not resumed
        parts.written |= {
            name: entry
            for name, entry in parts.kept.known.items()
            if "of" not in entry and _is_part(entry)
        }
        if parts.kept.known and not parts.written:
            raise BadData(
                f"{folder}: its samples are of another model, data or settings than run.json says; "
                "audit it again"
            )
        return parts

    @cached_property
    def written(self) -> dict[str, Entry]:
        """All finished parts of this run, by name."""
        return {
            name: entry
            for name, entry in self.kept.known.items()
            if _is_part(entry) and (not self.of or entry.get("of") == self.of)
        }

    @property
    def known(self) -> dict[str, Entry]:
        """The finished parts that hold the first prediction for each text, by name."""
        return {name: entry for name, entry in self.written.items() if not entry.get("repeat")}

    def read(self, name: str) -> pa.Table:
        """The samples of a finished part, checked; raises where no audit wrote them."""
        try:
            content = self.kept.read(name)
        except BadData as error:
            raise BadData(f"{error}; audit it again") from None
        where = one_line(f"{self.kept.folder}/{name}")
        table = parse_parquet(content, where, schema=READ_SCHEMA)
        return checked_samples(table, where, n_labels=self.n_labels)

    def skips(self, name: str) -> dict[str, int]:
        """The examples that a finished part left out, by reason."""
        return dict(self.written[name]["skips"])

    def table(self, names: Iterable[str] | None = None) -> pa.Table:
        """Finished parts as one table, all without `names`; no row stands there twice."""
        chosen = sorted(self.known) if names is None else list(names)
        if not chosen:
            return SCHEMA.empty_table()
        found = pa.concat_tables(self._read_together(chosen))
        check_unique(found, one_line(self.kept.folder))
        return found

    def _read_together(self, names: Iterable[str]) -> Iterator[pa.Table]:
        """The samples of several parts; raises once they unpack to far more than they have."""
        folder = self.kept.folder
        assert folder is not None
        packed = unpacked = 0
        for name in names:
            table = self.read(name)
            packed += (folder / name).stat().st_size
            unpacked += table.nbytes
            if unpacked > most_unpacked(packed):
                raise BadData(f"{one_line(folder)}: its samples unpack to far more than they have")
            yield table

    def names_of(self, transformation: str, number: int) -> list[str]:
        """The parts of a transformation, which is so manyth of the run; older versions said that by
        their names alone.
        """
        return sorted(
            name
            for name, entry in self.known.items()
            if entry.get("transformation", transformation) == transformation
            and ("transformation" in entry or name.startswith(f"{number:02d}-"))
        )

    @property
    def portions(self) -> dict[int, int]:
        """The portions of examples that are finished: the number of the first, and how many."""
        return {
            entry["start"]: entry["examples"]
            for entry in self.known.values()
            if entry.get("transformation") == ORIGINAL
        }

    @property
    def n_predicted(self) -> int:
        """How many predictions the model made for the parts, in whatever session."""
        return sum(entry.get("predicted", 0) for entry in self.written.values())

    @property
    def spent(self) -> dict[str, float]:
        """What all sessions of the run had spent when the last part was written."""
        entries = [entry.get("spent", {}) for entry in self.written.values()]
        names = sorted({name for entry in entries for name in entry})
        return {name: max(entry.get(name, 0.0) for entry in entries) for name in names}

    def write(
        self,
        name: str,
        table: pa.Table,
        skips: Mapping[str, int],
        spent: Mapping[str, float] | None = None,
        *,
        transformation: str = "",
        start: int = 0,
        n_examples: int = 0,
        n_predicted: int = 0,
        repeat: int = 0,
    ) -> None:
        """Add a part: the file first, then its line in the journal, which says what it holds: so
        many examples from `start` on, under one transformation, predicted for the so manyth time
        after the first (`repeat`).

        `spent` is what the run has spent by then, and `n_predicted` how many predictions the model
        made for this part: a run that is killed cannot say so itself.
        """
        sink = pa.BufferOutputStream()
        pq.write_table(table, sink, compression="zstd")
        more: dict[str, Any] = {"spent": dict(spent)} if spent else {}
        if repeat:
            more["repeat"] = repeat
        self.kept.write(
            name,
            sink.getvalue().to_pybytes(),
            of=self.of,
            transformation=transformation,
            start=start,
            examples=n_examples,
            skips=dict(sorted(skips.items())),
            rows=table.num_rows,
            predicted=n_predicted,
            **more,
        )
        self.written[name] = self.kept.known[name]


def _is_part(entry: Entry) -> bool:
    """Whether a line of the journal says what it has to of a part."""
    skips = entry.get("skips")
    is_counted = isinstance(skips, dict) and all(type(n) is int for n in skips.values())
    is_named = PART.fullmatch(entry["part"]) is not None
    is_said = isinstance(entry.get("transformation", ""), str)
    numbers = [entry.get(name, 0) for name in ("start", "examples", "predicted", "repeat")]
    are_numbers = all(type(number) is int and number >= 0 for number in numbers)
    return is_named and is_counted and is_said and are_numbers and _are_amounts(entry)


def _are_amounts(entry: Mapping[str, Any]) -> bool:
    spent = entry.get("spent", {})
    return isinstance(spent, dict) and all(
        type(amount) in (int, float) and 0 <= amount < math.inf for amount in spent.values()
    )


def write_examples(folder: Path, examples: Sequence[Example]) -> None:
    """Write the examples of a run, so that its texts can be rebuilt from positions anywhere."""
    columns: dict[str, Any] = {
        "id": [storable(e.id) for e in examples],
        "text_a": [storable(e.text_a) for e in examples],
        "text_b": pa.array(
            [None if e.text_b is None else storable(e.text_b) for e in examples], pa.string()
        ),
        "label": [e.label for e in examples],
        "groups": pa.array(
            [list(e.groups.items()) for e in examples], pa.map_(pa.string(), pa.string())
        ),
    }
    if any(e.family for e in examples):
        columns["family"] = [storable(e.family) for e in examples]
    if any(e.guess is not None for e in examples):
        columns["guess"] = [e.guess for e in examples]
    if any(e.on != TEXT_NAMES or not e.segments.keys() <= set(TEXT_NAMES) for e in examples):
        columns["segments"] = [storable(json.dumps(dict(e.segments))) for e in examples]
        columns["on"] = [list(e.on) for e in examples]
    table = pa.table(columns)
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    write_atomically(folder / "examples.parquet", sink.getvalue().to_pybytes())


def read_examples(folder: Path) -> list[Example]:
    """The examples of a run, in the order in which they were used."""
    try:
        table = read_parquet(folder / "examples.parquet", schema=EXAMPLES)
    except (FileNotFoundError, BadData) as error:
        why = "it is missing" if isinstance(error, FileNotFoundError) else error
        raise BadData(f"{folder}/examples.parquet: {why}; audit it again") from None
    rows = table.to_pylist()
    if any(row["id"] is None or row["text_a"] is None or row["label"] is None for row in rows):
        raise BadData(f"{folder}/examples.parquet: an id, a text or a label is missing")
    try:
        return [example_of(row) for row in rows]
    except (ValueError, TypeError, AttributeError, LookupError):
        raise BadData(f"{folder}/examples.parquet: its segments cannot be read") from None


def example_of(row: Mapping[str, Any]) -> Example:
    """The example of a row of the file; raises on one that no audit wrote."""
    groups = dict(row.get("groups") or ())
    family = row.get("family") or ""
    if row.get("segments") is not None:
        given = json.loads(row["segments"])
        segments = {
            str(name): each if isinstance(each, str) else tuple(map(str, each))
            for name, each in given.items()
        }
        on = tuple(name for name in row["on"] or () if name in segments)
        first = on or tuple(segments)[:1]
        return Example(
            row["id"],
            segments,
            row["label"],
            groups,
            on=first,
            family=family,
            guess=row.get("guess"),
        )
    if row.get("options"):  # as older versions wrote them
        options = tuple(map(str, row["options"]))
        own = {"question": row["text_a"], "ask": row.get("ask") or "", "options": options}
        return Example(row["id"], own, row["label"], groups, on=("question",), family=family)
    a, b = row["text_a"], row["text_b"]
    return Example.of(row["id"], a, b, row["label"], groups, family=family)
