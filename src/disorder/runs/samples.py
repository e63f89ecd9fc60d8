"""Samples: what the model predicted for each variant. Parquet parts, one row per variant.

A part is written whole or not at all, and named before it is predicted, so that a run that was
killed knows which parts it has. A journal keeps a checksum of each; a part that does not match is
predicted again.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from disorder.abstention import ABSTAINED, NO_ANSWERS, no_answer_codes, predicted_label
from disorder.errors import BadData
from disorder.runs.storage import add_line, cannot_write, is_on_disk, write_atomically
from disorder.types import DISORDER, Example, Floats, PositionRows, Texts, Variants
from disorder.untrusted_files import MAX_JSON, MAX_PARQUET, parse_json, parse_parquet, read_file

JOURNAL = "journal.jsonl"
PART = re.compile(r"\d{2,}-[^/\\\x00-\x1f]*\.parquet")
NAMES = pa.dictionary(pa.int32(), pa.string())
POSITIONS = pa.list_(pa.int32())
SCHEMA = pa.schema(
    [
        ("example", NAMES),
        ("transformation", NAMES),
        ("variant", pa.int32()),
        ("side", NAMES),
        ("positions_a", POSITIONS),
        ("positions_b", POSITIONS),
        ("label", NAMES),
        ("probabilities", pa.list_(pa.float32())),
        ("written_a", pa.string()),
        ("written_b", pa.string()),
        ("no_answer", NAMES),  # why the model gave none; probabilities are NaN then
        *((name, pa.float32()) for name in DISORDER),
    ]
)


def sample_table(
    transformation: str,
    labels: Sequence[str],
    examples: Sequence[Example],
    variants: Sequence[Variants | None],
    predictions: Sequence[Floats],
    *,
    texts: Sequence[Sequence[Texts]] | None = None,
    disorder: Sequence[Mapping[str, Floats]] | None = None,
) -> pa.Table:
    """The variants of some examples with their predictions; None stands for original texts.

    `texts` are those of every variant, to be kept where they cannot be drawn again from the
    original text and the seed; `disorder` is that of every variant.
    """
    counts = [len(part) for part in predictions]
    stacked = np.empty((0, max(1, len(labels))), np.float32)
    if predictions:
        stacked = np.concatenate(predictions).astype(np.float32)
    codes = no_answer_codes(stacked)
    stacked[codes > 0] = np.nan
    sides = [_side(group) for group in variants]
    columns = [
        _repeated([storable(e.id) for e in examples], counts),
        _constant(transformation, sum(counts)),
        pa.array(np.concatenate([np.arange(n) for n in counts]) if counts else [], pa.int32()),
        _repeated(sides, counts),
        _lists("a", variants, sides, counts),
        _lists("b", variants, sides, counts),
        _labels(labels, stacked),
        _matrix(stacked),
        _texts(_kept_texts("a", variants, texts, counts)),
        _texts(_kept_texts("b", variants, texts, counts)),
        _reasons(codes),
        *(_measured(name, disorder, counts) for name in DISORDER),
    ]
    return pa.Table.from_arrays(columns, schema=SCHEMA)


def _measured(
    name: str, disorder: Sequence[Mapping[str, Floats]] | None, counts: Sequence[int]
) -> pa.Array:
    """One measure of every variant, as far as it was predicted."""
    if not disorder:
        return pa.nulls(sum(counts), pa.float32())
    values = [each[name][:n] for each, n in zip(disorder, counts, strict=True)]
    return pa.array(np.concatenate(values), pa.float32(), from_pandas=True)


def predictions_of(table: pa.Table) -> tuple[list[str], Any, Any]:
    """The example and variant number of every row, and the probabilities as a matrix."""
    n = table.num_rows
    examples = table["example"].cast(pa.string()).to_pylist()
    flat = table["probabilities"].combine_chunks().flatten().to_numpy()
    if n and len(flat) % n:
        raise BadData("the samples are damaged: rows have different numbers of probabilities")
    return examples, table["variant"].to_numpy(), flat.reshape(n, -1) if n else flat.reshape(0, 1)


def no_answers_of(table: pa.Table) -> dict[str, int]:
    """How many rows have no answer, by reason."""
    reasons = table["no_answer"].drop_null().cast(pa.string()).to_pylist()
    return dict(sorted(Counter(reasons).items()))


def is_about(table: pa.Table, ids: Collection[str], n_variants: int, n_labels: int) -> bool:
    """Whether a part can be what was predicted for these examples: no other example, variant or
    number of labels, and nothing that is no number.
    """
    if not table.num_rows:
        return True
    if any(table[name].null_count for name in ("example", "variant", "probabilities")):
        return False
    widths = pc.unique(pc.list_value_length(table["probabilities"])).to_pylist()
    if widths != [n_labels]:
        return False
    examples, variants, predictions = predictions_of(table)
    is_in_range = variants.min() >= 0 and variants.max() < n_variants
    has_answer = table["no_answer"].is_null().to_numpy()
    is_finite = np.isfinite(predictions[has_answer]).all()
    return bool(is_in_range and is_finite and set(examples) <= set(ids))


def storable(text: str) -> str:
    """Lone surrogates cannot be stored as UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8")


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


def _side(variants: Variants | None) -> str:
    """Which texts differ from the original."""
    if variants is None:
        return "none"
    changed = [
        name for name, rows in zip("ab", variants.sides, strict=False) if not _is_original(rows)
    ]
    return {0: "none", 1: "".join(changed)}.get(len(changed), "both")


def _is_original(rows: PositionRows) -> bool:
    """Whether all variants share the original text."""
    n = rows.positions.shape[1]
    is_all = rows.is_shared and rows.written is None and n == len(rows.sentence) > 0
    return is_all and bool((rows.positions[0] == np.arange(n)).all())


def _positions(variants: Variants | None, side: str, name: str, n: int) -> tuple[Any, int]:
    """The position rows of one text, or None for each variant where it is the original."""
    if variants is None or side not in (name, "both"):
        return None, n
    rows = variants.a if name == "a" else variants.b
    assert rows is not None
    if rows.written is not None:
        return None, n
    return (np.tile(rows.positions, (n, 1)) if rows.is_shared else rows.positions[:n]), n


def _kept_texts(
    name: Literal["a", "b"],
    variants: Sequence[Variants | None],
    texts: Sequence[Sequence[Texts]] | None,
    counts: Sequence[int],
) -> list[list[str | None]]:
    """The texts of one side per example where they must be kept, None where positions suffice."""
    if texts is None:
        return [_written(name, group, n) for group, n in zip(variants, counts, strict=True)]
    side = "ab".index(name)
    found = ([pair[side] for pair in group[:n]] for group, n in zip(texts, counts, strict=True))
    return [[None if text is None else storable(text) for text in group] for group in found]


def _written(name: Literal["a", "b"], variants: Variants | None, n: int) -> list[str | None]:
    """The texts that a transformation wrote itself, of which there are no positions."""
    if variants is None:
        return [None] * n
    rows = variants.a if name == "a" else variants.b
    if rows is None or rows.written is None:
        return [None] * n
    return [storable(rows.written[i % len(rows.written)]) for i in range(n)]


def _texts(groups: Sequence[Sequence[str | None]]) -> pa.Array:
    return pa.array([text for group in groups for text in group], pa.string())


def _lists(
    name: Literal["a", "b"],
    variants: Sequence[Variants | None],
    sides: Sequence[str],
    counts: Sequence[int],
) -> pa.Array:
    """The positions of one text as a list array, without going through Python lists."""
    groups = [
        _positions(group, side, name, n)
        for group, side, n in zip(variants, sides, counts, strict=True)
    ]
    lengths = [np.full(n, 0 if matrix is None else matrix.shape[1]) for matrix, n in groups]
    offsets = np.concatenate([[0], np.cumsum(np.concatenate(lengths))]) if lengths else np.zeros(1)
    values = [matrix.ravel() for matrix, _ in groups if matrix is not None]
    mask = np.zeros(0, dtype=bool)
    if groups:
        mask = np.concatenate([np.full(n, matrix is None) for matrix, n in groups])
    flat = np.concatenate(values).astype(np.int32) if values else np.empty(0, np.int32)
    return pa.ListArray.from_arrays(
        pa.array(offsets.astype(np.int32)), pa.array(flat), mask=pa.array(mask)
    )


def _repeated(names: Sequence[str], counts: Sequence[int]) -> pa.Array:
    known = list(dict.fromkeys(names))
    numbers = {name: i for i, name in enumerate(known)}
    indices = np.repeat(np.array([numbers[name] for name in names], dtype=np.int32), counts)
    return pa.DictionaryArray.from_arrays(
        pa.array(indices, pa.int32()), pa.array(known, pa.string())
    )


def _constant(name: str, n: int) -> pa.Array:
    return pa.DictionaryArray.from_arrays(
        pa.array(np.zeros(n, dtype=np.int32)), pa.array([name], pa.string())
    )


def _labels(labels: Sequence[str], predictions: Any) -> pa.Array:
    if not labels:
        return pa.nulls(len(predictions), NAMES)
    numbers = np.empty(0, np.int32)
    if len(predictions):
        numbers = predicted_label(predictions).astype(np.int32)
    is_none = np.isnan(predictions[:, 0])
    names = [*labels, ABSTAINED] if ((numbers < 0) & ~is_none).any() else list(labels)
    indices = pa.array(np.where(numbers < 0, len(labels), numbers), pa.int32(), mask=is_none)
    return pa.DictionaryArray.from_arrays(indices, pa.array(names, pa.string()))


def _reasons(codes: Any) -> pa.Array:
    """Why there is no answer, by its code; null where there is one."""
    numbers = pa.array(np.maximum(codes - 1, 0), pa.int32(), mask=codes == 0)
    return pa.DictionaryArray.from_arrays(numbers, pa.array(NO_ANSWERS, pa.string()))


def _matrix(predictions: Any) -> pa.Array:
    offsets = np.arange(len(predictions) + 1, dtype=np.int32) * predictions.shape[1]
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(predictions.ravel()))
