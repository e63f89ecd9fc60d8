"""A small Parquet file cannot fill memory, however its texts are packed; usual files are read."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from disorder import safe_io
from disorder.data import read_data
from disorder.errors import BadData
from disorder.safe_io import check_unpacked, parse_parquet
from disorder.store.sample_parts import SampleParts
from disorder.store.samples import SCHEMA
from disorder.store.store import checksum
from disorder.verbs.audit.pipeline import audit

N_ROWS = 400
LONG = "x" * 10**6
NAMED_OFTEN = pa.DictionaryArray.from_arrays(pa.array([0] * N_ROWS, pa.int32()), pa.array([LONG]))
PAIRS = pa.map_(pa.string(), pa.string())
BOMBS: dict[str, tuple[Any, dict[str, Any]]] = {
    "one text that every row names": (NAMED_OFTEN, {}),
    "the same without Arrow's schema": (NAMED_OFTEN, {"store_schema": False}),
    "pages of version 2": (NAMED_OFTEN, {"data_page_version": "2.0"}),
    "plain texts, packed": ([LONG] * N_ROWS, {"use_dictionary": False}),
    "texts that repeat the one before": (
        [LONG] * N_ROWS,
        {"use_dictionary": False, "column_encoding": {"text_a": "DELTA_BYTE_ARRAY"}},
    ),
    "texts in lists": ([[LONG]] * N_ROWS, {}),
    "texts in structures": ([{"a": LONG}] * N_ROWS, {}),
    "texts in maps": (pa.array([[("a", LONG)]] * N_ROWS, PAIRS), {}),
    "numbers": (pa.array([7] * 40_000_000, pa.int64()), {}),
}


def packed(column: Any, **more: Any) -> bytes:
    sink = pa.BufferOutputStream()
    table = pa.table({"text_a": column, "label": pa.array(["x"] * len(column))})
    pq.write_table(table, sink, compression="zstd", **more)
    content: bytes = sink.getvalue().to_pybytes()
    return content


@pytest.mark.parametrize("name", BOMBS)
def test_a_small_file_that_unpacks_to_much_is_one_line(name: str, tmp_path: Path) -> None:
    column, more = BOMBS[name]
    content = packed(column, **more)
    assert len(content) < 300_000
    with pytest.raises(BadData, match="bytes and unpacks to more than 268,435,456"):
        parse_parquet(content, "x.parquet")
    (tmp_path / "x.parquet").write_bytes(content)
    with pytest.raises(BadData, match=r"x\.parquet has .* bytes and unpacks to more than"):
        read_data(str(tmp_path / "x.parquet"))


def test_a_page_larger_than_the_footer_says_is_counted_by_its_own_header() -> None:
    content = packed([LONG] * N_ROWS, use_dictionary=False)
    said = pq.read_metadata(pa.BufferReader(content)).row_group(0).column(0).total_uncompressed_size
    assert said > 2**28
    forged = content.replace(_varint(2 * said), _varint(2 * 1000, width=len(_varint(2 * said))))
    footer = pq.read_metadata(pa.BufferReader(forged)).row_group(0).column(0)
    assert footer.total_uncompressed_size == 1000
    with pytest.raises(BadData, match="unpacks to more than"):
        check_unpacked(forged, "x.parquet")


def _varint(value: int, width: int = 0) -> bytes:
    """A number as Thrift writes it, on at least so many bytes."""
    found = bytearray()
    while value > 127 or len(found) < width - 1:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])


def test_many_parts_together_are_limited(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    audit("builtin:bow", "builtin", with_="derange", q=1, limit=20, out=folder, cache="off")
    lines = (folder / "samples" / "journal.jsonl").read_text(encoding="utf-8").splitlines()
    entry = json.loads(lines[0])
    table = pq.read_table(folder / "samples" / entry["part"], schema=SCHEMA)
    table = table.take(pa.array([0] * 150))
    for name, values in (
        ("variant", pa.array(range(150), pa.int32())),
        ("written_a", pa.array([LONG] * 150)),
    ):
        table = table.set_column(SCHEMA.get_field_index(name), name, values)
    first = folder / "samples" / entry["part"]
    pq.write_table(table, first, compression="zstd")
    entries = []
    for name in (entry["part"], "98-again.parquet", "99-again.parquet"):
        if name != entry["part"]:
            shutil.copy(first, folder / "samples" / name)
        entries.append(entry | {"part": name, "checksum": checksum(first.read_bytes())})
    text = "".join(f"{json.dumps(line)}\n" for line in entries)
    (folder / "samples" / "journal.jsonl").write_text(text, encoding="utf-8")
    parts = SampleParts.open(folder, to_write=False)
    assert parts.read(entry["part"]).num_rows == 150
    with pytest.raises(BadData, match="unpack to far more"):
        parts.table()


VALUES = st.one_of(
    st.lists(st.one_of(st.none(), st.text(max_size=8))),
    st.lists(st.one_of(st.none(), st.integers(-5, 5))),
    st.lists(st.lists(st.one_of(st.none(), st.text(max_size=3)), max_size=3)),
)


@settings(deadline=None)
@given(VALUES, st.booleans(), st.sampled_from(["1.0", "2.0"]), st.integers(1, 50))
def test_files_that_pyarrow_writes_are_read_as_they_are(
    values: list[Any], use_dictionary: bool, version: str, rows: int
) -> None:
    table = pa.table({"x": values})
    sink = pa.BufferOutputStream()
    pq.write_table(
        table,
        sink,
        use_dictionary=use_dictionary,
        data_page_version=version,
        row_group_size=rows,
        data_page_size=16,
    )
    assert parse_parquet(sink.getvalue().to_pybytes(), "x").to_pylist() == table.to_pylist()


def test_every_usual_kind_of_column_is_read() -> None:
    table = pa.table(
        {
            "time": [datetime(2021, 5, 6), None],
            "decimal": [Decimal("1.5"), None],
            "bytes": [b"\xff", None],
            "truth": [True, None],
            "structure": [{"x": 1, "y": ["a"]}, None],
            "map": pa.array([[("k", "v")], None], PAIRS),
            "names": pa.array(["a", None]).dictionary_encode(),
            "numbers": pa.array([1, None]).dictionary_encode(),
            "fixed": pa.array([[1, 2], None], pa.list_(pa.int32(), 2)),
            "nothing": pa.nulls(2),
            "large": pa.array(["q", None], pa.large_string()),
        }
    )
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    assert parse_parquet(sink.getvalue().to_pybytes(), "x").to_pylist() == table.to_pylist()


def test_a_footer_that_ends_pyarrow_does_not_end_us() -> None:
    """Found by scripts/fuzz.py: asked for a column of it, pyarrow aborts the process."""
    code = (
        "import sys; from pathlib import Path\n"
        "from disorder.errors import BadData\n"
        "from disorder.safe_io import read_parquet\n"
        "try:\n    read_parquet(Path(sys.argv[1]))\n"
        "except BadData as error:\n    print(error)\n"
    )
    path = Path(__file__).parent / "faults" / "damaged_footer.parquet"
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "histogram size mismatch" in done.stdout


def test_a_list_in_a_footer_that_has_no_end_is_damaged() -> None:
    endless = bytes([0x19, 0xF3, *[0xFF] * 8, 0x7F, 0])  # a list of 2⁶³ bytes
    with pytest.raises(ValueError, match="outside the file"):
        safe_io._structure(endless, 0)
