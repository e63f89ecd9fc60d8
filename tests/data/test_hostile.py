"""Nothing that a file can hold makes a crash or a hang: only a `DisorderError` is allowed."""

from __future__ import annotations

import gzip
import json
import os
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from disorder.data import read_data
from disorder.errors import DisorderError
from disorder.transformations import suite
from disorder.verbs.audit.pipeline import audit
from disorder.verbs.perturb import perturb

ANY_CHARACTER = st.characters()  # lone surrogates too, as JSON can hold them
SCRIPTS = st.sampled_from(
    [
        "",
        " ",
        "a",
        "Yes.",
        "a a a",
        "one two three four five six",
        "👩‍❤️‍👨 🏳️‍🌈 ❤️",
        "שלום לך עולם גדול",
        "بسرعة کبيرة می‌خواهم",
        "我喜欢吃苹果。",
        "a\0b \0 c",
        "\ufeffstart of it",
        "two\r\nlines of\rtext",
        "mixed 我 שלום 👍🏽 naïve がぎ end",
        "\ud83d half",
        "``quoted'' \"text\" isn't “it”?",
        "...",
        "\u200f\u200e\u00ad",
        "e\u0301 \u0301 x",
    ]
)
TEXT = st.one_of(
    SCRIPTS, st.text(ANY_CHARACTER, max_size=40), st.lists(SCRIPTS, max_size=4).map(" ".join)
)
LABEL = st.one_of(
    st.sampled_from(
        ["x", "y", "entailment", "neutral", "0", "1", "0.5", "-1", "", "nan", "inf", "1e999"]
    ),
    st.none(),
    st.integers(-2, 3),
    st.floats(),
    st.booleans(),
    st.text(ANY_CHARACTER, max_size=5),
)
VALUE = st.one_of(
    TEXT, st.none(), st.integers(), st.floats(), st.booleans(), st.lists(st.integers(), max_size=2)
)
IDS = st.one_of(st.none(), st.integers(0, 5), TEXT)
CLEAN_ROW = st.fixed_dictionaries(
    {"text_a": TEXT, "text_b": TEXT, "label": st.sampled_from(["x", "y"])}
)
ROW = st.one_of(
    CLEAN_ROW,
    st.fixed_dictionaries(
        {"text_a": TEXT, "label": LABEL}, optional={"text_b": TEXT, "id": IDS, "genre": VALUE}
    ),
    st.fixed_dictionaries(
        {},
        optional={"text_a": VALUE, "text_b": VALUE, "label": VALUE, "id": VALUE, "variant": VALUE},
    ),
)
# Most made files hold rows that can be used, so that more than the reader is put to the test.
DATASET = st.one_of(
    st.lists(CLEAN_ROW, min_size=1, max_size=8),
    st.lists(st.fixed_dictionaries({"text_a": TEXT, "label": LABEL, "id": IDS}), max_size=8),
    st.lists(ROW, max_size=8),
)
SPECS = [
    *suite("full"),
    "clump",
    "swap_texts",
    "drop_text",
    "empty",
    "derange:punctuation=free+reverse",
    "derange:q=1+shuffle",
]
SPEC = st.one_of(
    st.sampled_from(SPECS),
    st.sampled_from(["derange", "sort", "reverse"]).map(lambda s: f"{s}:words=spaces"),
)


LONG = {
    "distinct words": " ".join(f"w{i}" for i in range(10_000)),
    "few words": " ".join(f"w{i % 90}" for i in range(10_000)),
    "Chinese": "".join(chr(0x4E00 + i) for i in range(10_000)),
}


def as_csv(rows: list[dict[str, Any]]) -> str:
    columns = list(dict.fromkeys(key for row in rows for key in row))
    lines = [columns, *([str(row.get(key, "")) for key in columns] for row in rows)]
    return "\r\n".join(
        ",".join('"' + cell.replace('"', '""') + '"' for cell in line) for line in lines
    )


def go_through(path: Path, spec: str, *, out: Path | None = None) -> str:
    """Perturb and audit a file, and say how the audit ended; any error but a `DisorderError` fails
    the test.
    """
    with suppress(DisorderError):
        for record in perturb(str(path), with_=spec, q=3, short="use"):
            json.dumps(record, ensure_ascii=False).encode()
    status = "abstained"
    with suppress(DisorderError):
        status = audit("uniform", str(path), with_=[spec], q=3, short="use", out=out).status
    return status


def test_any_rows_as_jsonl(tmp_path: Path) -> None:
    ends: Counter[str] = Counter()

    @settings(max_examples=200)
    @given(rows=DATASET, spec=SPEC)
    def go(rows: list[Any], spec: str) -> None:
        (tmp_path / "any.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        ends[go_through(tmp_path / "any.jsonl", spec)] += 1

    go()
    assert min(ends["done"], ends["abstained"]) > 30, (
        "the made files must reach the end and the errors both"
    )


@settings(max_examples=100)
@given(rows=DATASET, spec=SPEC, marks=st.sampled_from(["", "\ufeff"]))
def test_any_rows_as_csv(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Any], spec: str, marks: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_bytes((marks + as_csv(rows)).encode("utf-8", "surrogatepass"))
    go_through(path, spec)


@settings(max_examples=60)
@given(rows=DATASET, spec=SPEC)
def test_a_run_folder_can_always_be_written(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Any], spec: str
) -> None:
    path = tmp_path_factory.mktemp("hostile") / "any.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    go_through(path, spec, out=path.parent / "run")


@settings(max_examples=200)
@given(
    content=st.one_of(
        st.binary(max_size=300),
        st.binary(max_size=40).map(b'{"text_a": "%b", "label": "x"}\n'.__mod__),
    ),
    suffix=st.sampled_from([".jsonl", ".csv", ".tsv", ".parquet", ".jsonl.gz", ".csv.gz"]),
    is_zipped=st.booleans(),
)
def test_any_bytes(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, suffix: str, is_zipped: bool
) -> None:
    path = tmp_path_factory.getbasetemp() / f"bytes{suffix}"
    path.write_bytes(gzip.compress(content, 1) if is_zipped else content)
    go_through(path, "derange")


@pytest.mark.parametrize("words", LONG.values(), ids=LONG.keys())
def test_ten_thousand_words(tmp_path: Path, words: str) -> None:
    path = tmp_path / "long.jsonl"
    rows = [{"text_a": words, "text_b": "short one here", "label": label} for label in ("x", "y")]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for spec in ("derange:side=a", "shuffle_ngrams:n=3,side=a,words=simple", "reverse:side=a"):
        assert go_through(path, spec) == "done"


def test_many_labels_and_long_names(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    rows = [
        {"id": "i" * 5000 + str(i), "text_a": f"some words of text {i}", "label": f"{'l' * 500}{i}"}
        for i in range(60)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert len(read_data(str(path)).examples) == 60
    go_through(path, "derange", out=tmp_path / "run")


def refusal(path: Path | str) -> str:
    """The one line that says why a file is not read."""
    with pytest.raises(DisorderError) as told:
        read_data(str(path))
    assert len(str(told.value).splitlines()) == 1
    return str(told.value)


@pytest.mark.parametrize("name", ["x.jsonl", "x.csv", "x.jsonl.gz", "x.parquet"])
def test_pipes_and_devices_are_no_data(tmp_path: Path, name: str) -> None:
    """A pipe that nobody writes to would wait for ever, a device would never end."""
    os.mkfifo(tmp_path / name)
    assert "not a regular file" in refusal(tmp_path / name)
    (tmp_path / name).unlink()
    (tmp_path / name).symlink_to("/dev/zero")
    assert "not a regular file" in refusal(tmp_path / name)


@pytest.mark.parametrize("ending", ["jsonl", "csv", "jsonl.gz", "parquet"])
def test_a_name_that_no_file_can_have(ending: str) -> None:
    assert "cannot be read" in refusal(f"a\0b.{ending}")


def test_a_column_that_stands_twice(tmp_path: Path) -> None:
    """Which of the two would be read cannot be told."""
    (tmp_path / "x.jsonl").write_text('{"text_a": "a b", "text_a": "c d", "label": "x"}')
    assert refusal(tmp_path / "x.jsonl").endswith("line 1: 'text_a' stands twice in one object")
    columns = [pa.array(["a b"]), pa.array(["c d"]), pa.array(["x"])]
    pq.write_table(pa.table(columns, ["text_a", "text_a", "label"]), tmp_path / "x.parquet")
    assert refusal(tmp_path / "x.parquet").endswith("a column name stands twice")


def test_damage_of_a_table_is_said_in_our_words(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(b"text_a,label\ra b,x\rc d,y\r")
    assert "line 1: lines end with a carriage return alone" in refusal(path)
    path.write_bytes(b'text_a,label\n"a b,x\nc d,y\n')
    assert "a quotation mark is not closed" in refusal(path)


@pytest.mark.parametrize("labels", [("1", "1.0"), ("0", "-0.0"), ("10", "1e1")])
def test_one_number_written_in_two_ways_is_not_two_labels(labels: tuple[str, str]) -> None:
    rows = [{"text_a": f"a b {i}", "label": label} for i, label in enumerate([*labels, "2"])]
    with pytest.raises(DisorderError, match=r"labels '.*' and '.*' are the same number") as told:
        read_data(rows)
    assert all(repr(label) in str(told.value) for label in labels)


@pytest.mark.parametrize("odd", ["inf", "1e999"])
def test_a_label_without_a_finite_value_is_a_word(odd: str) -> None:
    rows = [{"text_a": f"a b {label}", "label": label} for label in ("1", odd)]
    assert read_data(rows).task.labels == ("1", odd)
    numbers = [{"text_a": f"a {label}", "text_b": "b", "label": label} for label in ("1.5", odd)]
    with pytest.raises(DisorderError, match="is not a number"):
        read_data(numbers, task="stsb")


def test_no_text_passes_for_the_border_between_two() -> None:
    rows = [
        {"text_a": "a good\0\1film", "text_b": "it was", "label": "yes"},
        {"text_a": "a good", "text_b": "film\0\1it was", "label": "yes"},
        {"text_a": "another", "text_b": "one", "label": "no"},
    ]
    found = read_data(rows)
    assert len(found.examples) == len({example.id for example in found.examples}) == 3
    assert not found.skipped
