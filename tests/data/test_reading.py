"""Every file is read as it is, and every mistake in it is named with its place."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conftest import pairs
from disorder.data import read_data, stream
from disorder.errors import BadData, DisorderError, UnknownName
from disorder.verbs.perturb import perturb

ROWS = [
    {"id": "1", "premise": 'A "big" dog, old', "hypothesis": "An animal.", "gold": "entailment"},
    {"id": "2", "premise": "两只狗在跑", "hypothesis": "👩‍👩‍👧 שלום", "gold": "neutral"},
    {"id": "3", "premise": "It rains", "hypothesis": "It is dry", "gold": "contradiction"},
]
COLUMNS = {"premise": "text_a", "hypothesis": "text_b", "gold": "label"}


def as_jsonl(rows: list[dict[str, str]]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def as_csv(rows: list[dict[str, str]]) -> bytes:
    lines = [list(rows[0]), *(list(row.values()) for row in rows)]
    return "".join(
        ",".join('"' + cell.replace('"', '""') + '"' for cell in line) + "\n" for line in lines
    ).encode()


def as_tsv(rows: list[dict[str, str]]) -> bytes:
    return "".join(
        "\t".join(line) + "\n" for line in [list(rows[0]), *(list(row.values()) for row in rows)]
    ).encode()


FORMATS: dict[str, Callable[[list[dict[str, str]]], bytes]] = {
    "jsonl": as_jsonl,
    "csv": as_csv,
    "tsv": as_tsv,
}


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., str]:
    """Write bytes to a file of this name and give its path."""

    def to_file(content: bytes | str, name: str = "data.jsonl") -> str:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(path)

    return to_file


def line(**columns: Any) -> str:
    return json.dumps({"text_a": "Some words here", "label": "yes"} | columns) + "\n"


def content(examples: Any) -> list[tuple[str, str, str | None, str]]:
    return [(e.id, e.text_a, e.text_b, e.label) for e in examples]


def test_a_dataset_is_shown_in_one_line() -> None:
    assert repr(read_data("builtin:sentiment")) == (
        "Dataset('builtin:sentiment', 1,200 examples, labels: negative, positive)"
    )


class TestFormats:
    @pytest.mark.parametrize("suffix", FORMATS)
    def test_text_formats_plain_and_compressed(
        self, write: Callable[..., str], suffix: str
    ) -> None:
        expected = [tuple(row.values()) for row in ROWS]
        plain = FORMATS[suffix](ROWS)
        for name, written in (
            (f"d.{suffix}", plain),
            (f"d.{suffix}.gz", gzip.compress(plain)),
            (f"D.{suffix.upper()}", plain),
        ):
            dataset = read_data(write(written, name), columns=COLUMNS)
            assert content(dataset.examples) == expected
            assert dataset.task.labels == ("entailment", "neutral", "contradiction")
            assert dataset.skipped == {}

    def test_parquet(self, tmp_path: Path) -> None:
        pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "d.parquet")
        assert content(read_data(str(tmp_path / "d.parquet"), columns=COLUMNS).examples) == [
            tuple(row.values()) for row in ROWS
        ]

    @pytest.mark.parametrize("suffix", FORMATS)
    def test_byte_order_mark_and_windows_line_ends(
        self, write: Callable[..., str], suffix: str
    ) -> None:
        windows = b"\xef\xbb\xbf" + FORMATS[suffix](ROWS).replace(b"\n", b"\r\n")
        examples = read_data(write(windows, f"d.{suffix}"), columns=COLUMNS).examples
        assert content(examples) == [tuple(row.values()) for row in ROWS]

    def test_a_csv_cell_may_hold_a_line_end_and_a_tsv_cell_a_quote(
        self, write: Callable[..., str]
    ) -> None:
        csv = read_data(write('id,text_a,label\n1,"two\nlines",x\n2,b,y\n', "d.csv"))
        assert dataset_texts(csv.examples) == ["two\nlines", "b"]
        tsv = read_data(write('id\ttext_a\tlabel\n1\tsay "no\tx\n2\tb\ty\n', "d.tsv"))
        assert dataset_texts(tsv.examples) == ['say "no', "b"]

    def test_blank_lines_are_no_rows(self, write: Callable[..., str]) -> None:
        assert (
            len(
                read_data(
                    write("\n" + line() + "\n  \n" + line(text_a="Other words", label="no"))
                ).examples
            )
            == 2
        )

    def test_no_text_passes_for_the_border_between_two_in_a_fingerprint(self) -> None:
        one = [{"text_a": "good\0movie here", "text_b": "bad film", "label": "x", "id": "1"}]
        two = [{"text_a": "good", "text_b": "movie here\0bad film", "label": "x", "id": "1"}]
        assert read_data(one).fingerprint != read_data(two).fingerprint

    def test_the_fingerprint_is_of_content_and_not_of_form_or_order(
        self, write: Callable[..., str]
    ) -> None:
        prints = {
            read_data(write(FORMATS[s](rows), f"{i}.{s}"), columns=COLUMNS).fingerprint
            for i, rows in enumerate((ROWS, ROWS[::-1]))
            for s in FORMATS
        }
        assert len(prints) == 1
        other = [{**ROWS[0], "gold": "neutral"}, *ROWS[1:]]
        assert read_data(write(as_csv(other), "o.csv"), columns=COLUMNS).fingerprint not in prints


def dataset_texts(examples: Any) -> list[str]:
    return [example.text_a for example in examples]


class TestMistakes:
    @pytest.mark.parametrize(
        ("name", "written", "message"),
        [
            ("d.jsonl", line() + "{broken\n", "line 2: broken JSON"),
            ("d.jsonl", line() + "[1, 2]\n", "line 2: expected an object with columns, got list"),
            (
                "d.jsonl",
                line() + '{"text_a": "a", "label": ' + "9" * 5000 + "}\n",
                "line 2: broken JSON",
            ),
            ("d.jsonl", line() + "[" * 100_000 + "\n", "line 2: broken JSON"),
            (
                "d.jsonl",
                b'{"text_a": "a", "label": "x"}\n{"text_a": "\xe9", "label": "x"}\n',
                "line 2: not UTF-8 (byte 13)",
            ),
            ("d.csv", b"text_a,label\na,x\n\xff\xfe,y\n", "line 3: not UTF-8"),
            ("d.csv", "text_a,label\na,x\nb\n", "line 3: 1 columns where the header has 2"),
            ("d.csv", 'text_a,label\na,x\n"b,y\n', "quotation mark is not closed"),
            ("d.csv", "text_a,text_a,label\na,b,x\n", "a column name stands twice"),
            (
                "d.jsonl",
                '{"words": "a", "label": "x"}\n',
                "no column 'text_a'; it has 'words', 'label'. Say which one it is",
            ),
            ("d.jsonl", '{"text_a": "a"}\n', "no column 'label'"),
            ("d.jsonl", line(text_a=["a"]), "line 1: a text must be a string, got list"),
            ("d.jsonl", line(text_a=True), "line 1: a text must be a string, got bool"),
            (
                "d.jsonl",
                line(label={"a": 1}),
                "line 1: a label must be a word or a number, got dict",
            ),
            ("d.jsonl", "", "no example can be used (it is empty)"),
            ("d.csv", "", "no example can be used (it is empty)"),
            ("d.csv", "text_a,label\n", "no example can be used (it is empty)"),
            ("d.jsonl", line(label=None), "no example can be used (1 with no gold label)"),
            ("d.parquet", "PAR1 not really", "not a readable Parquet file"),
            ("d.jsonl.gz", b"not gzip at all", "damaged gzip file"),
            (
                "d.jsonl.gz",
                gzip.compress(line().encode() * 500, mtime=0)[:-20],
                "damaged gzip file",
            ),
            ("d.txt", "a\n", "cannot tell the format"),
            ("d.gz", gzip.compress(b"a\n", mtime=0), "cannot tell the format"),
        ],
    )
    def test_each_is_one_line_that_names_the_place(
        self, write: Callable[..., str], name: str, written: bytes | str, message: str
    ) -> None:
        with pytest.raises(BadData) as caught:
            read_data(write(written, name))
        assert message in str(caught.value)
        assert "\n" not in str(caught.value)

    def test_columns_that_are_not_there(self, write: Callable[..., str]) -> None:
        with pytest.raises(BadData, match="no column 'premise'; it has 'text_a', 'label'"):
            read_data(write(line()), columns={"premise": "text_a"})
        with pytest.raises(BadData, match="no column 'genre' to group by"):
            read_data(write(line()), group_by=["genre"])

    @pytest.mark.parametrize("spec", ["missing.jsonl", "missing.csv.gz", "missing.parquet"])
    def test_no_such_file(self, spec: str) -> None:
        with pytest.raises(BadData, match=r"missing\."):
            read_data(spec)

    def test_a_folder_is_no_file(self, tmp_path: Path) -> None:
        (tmp_path / "folder.jsonl").mkdir()
        for path in (tmp_path, tmp_path / "folder.jsonl"):
            with pytest.raises(BadData):
                read_data(str(path))

    @pytest.mark.parametrize(
        "spec", ["x" * 300, "", ":", "hf:", "a\0b", "builtin:nlj", "builtin:nli:dev", "mnli:mached"]
    )
    def test_specs_that_mean_nothing(self, spec: str, tmp_path: Path) -> None:
        with pytest.raises(DisorderError):
            read_data(spec, data_dir=str(tmp_path))

    def test_names_get_a_hint(self) -> None:
        with pytest.raises(UnknownName, match="did you mean 'builtin'"):
            read_data("bultin")
        with pytest.raises(UnknownName, match="did you mean 'sentiment'"):
            read_data("builtin:sentimen")
        with pytest.raises(UnknownName, match="did you mean 'mnli'"):
            read_data("builtin", task="mnl")

    def test_labels_that_the_task_does_not_know(self, write: Callable[..., str]) -> None:
        with pytest.raises(
            BadData, match=r"label 'maybe' \(id .*\) is none of entailment, neutral, contradiction"
        ):
            read_data(write(line(label="maybe")), task="mnli")
        with pytest.raises(BadData, match="label 3 is none of 0 … 2"):
            read_data(write(line(label=3)), task="mnli")
        with pytest.raises(BadData, match="is not a number"):
            read_data(write(line(label="high")), task="stsb")


class TestRows:
    def test_rows_without_a_label_and_empty_and_repeated_ones_are_counted(
        self, write: Callable[..., str]
    ) -> None:
        rows = [
            line(id="1"),
            line(id="2", label=-1),
            line(id="3", label=None),
            line(id="4", label="-1"),
            line(id="5", label=""),
            line(id="6", text_a=""),
            line(id="7", text_a=" \t"),
            line(id="8", text_a=None),
            line(id="1"),
            line(id="9", label="no"),
        ]
        dataset = read_data(write("".join(rows)))
        assert [example.id for example in dataset.examples] == ["1", "9"]
        assert dataset.skipped == {"no gold label": 4, "empty text": 3, "repeated row": 1}

    @pytest.mark.parametrize("labels", [(-1, 0, 1), (-1, 1), ("-1", "0", "1"), (-1.0, -0.5, 2.5)])
    def test_minus_one_beside_labels_like_it_is_not_dropped_unsaid(
        self, labels: tuple[Any, ...]
    ) -> None:
        rows = [{"text": f"what is it {i}", "label": labels[i % len(labels)]} for i in range(30)]
        with pytest.raises(BadData, match=r"rows have -1 beside .* may be a label or none"):
            read_data(rows)
        kept = read_data(rows, task="labels")
        assert kept.skipped == {"no gold label": 30 // len(labels)}

    @pytest.mark.parametrize("labels", [(0, 1, 2, -1), ("no", "yes", -1), (*[0, 1] * 15, -1)])
    def test_minus_one_is_no_label_where_others_do_not_say_so(
        self, labels: tuple[Any, ...]
    ) -> None:
        """As in SNLI."""
        rows = [{"text": f"what is it {i}", "label": labels[i % len(labels)]} for i in range(62)]
        assert "-1" not in read_data(rows).task.labels

    @pytest.mark.parametrize("column", ["id", "text_a", "text_b", "label", "genre"])
    def test_a_row_with_half_a_character_is_skipped(
        self, write: Callable[..., str], column: str
    ) -> None:
        """JSON can spell a lone surrogate; no file, terminal or tokenizer can hold it."""
        row = {"id": "2", "text_a": "More words", "text_b": "b", "label": "no", "genre": "g"} | {
            column: "half \ud83d"
        }
        rows = [
            line(id="1", text_b="b", genre="g"),
            line(**row),
            line(id="3", text_b="c", genre="g", label="no"),
        ]
        dataset = read_data(write("".join(rows)), group_by=["genre"])
        assert [example.id for example in dataset.examples] == ["1", "3"]
        assert dataset.skipped == {"half a character (a lone surrogate)": 1}

    def test_a_pair_with_an_empty_second_text_is_skipped(self, write: Callable[..., str]) -> None:
        rows = [
            line(text_b="b"),
            line(text_b="", label="no"),
            line(text_b=None, label="no"),
            line(text_b="c", label="no"),
        ]
        dataset = read_data(write("".join(rows)))
        assert len(dataset.examples) == 2
        assert dataset.skipped == {"empty text": 2}

    def test_a_second_text_is_never_dropped_in_silence(self, write: Callable[..., str]) -> None:
        """Whether a file holds pairs must not depend on which row comes first."""
        with pytest.raises(BadData, match="line 2"):
            read_data(write(line(text_b=None) + line(text_b="b", label="no")))

    def test_one_id_for_two_examples_is_an_error(self, write: Callable[..., str]) -> None:
        with pytest.raises(
            BadData, match=r"line 2: id '1' was used before \(line 1\) for another example"
        ):
            read_data(write(line(id="1") + line(id=1, text_a="Other words")))

    def test_without_ids_they_come_from_the_content(self, write: Callable[..., str]) -> None:
        first = read_data(write(line() + line(text_a="Other words", label="no") + line()))
        second = read_data(write(line(text_a="Other words", label="no") + line(), "turned.jsonl"))
        assert content(first.examples) == content(second.examples)
        assert first.skipped == {"repeated row": 1}

    def test_numbers_are_labels_of_a_known_task(self, write: Callable[..., str]) -> None:
        dataset = read_data(write(line(label=0) + line(label=2, text_a="x")), task="mnli")
        assert sorted(e.label for e in dataset.examples) == ["contradiction", "entailment"]

    def test_numbers_with_a_point_are_a_regression(self, write: Callable[..., str]) -> None:
        assert read_data(write(line(label=0.5) + line(label=2, text_a="x"))).task.is_regression
        assert not read_data(write(line(label=1) + line(label=2, text_a="x"))).task.is_regression

    def test_groups_are_kept(self, write: Callable[..., str]) -> None:
        dataset = read_data(
            write(line(genre="news") + line(genre=7, text_a="x", label="no")), group_by=["genre"]
        )
        assert sorted(e.groups["genre"] for e in dataset.examples) == ["7", "news"]

    def test_read_sorts_and_stream_does_not(self, write: Callable[..., str]) -> None:
        path = write(line(id="b") + line(id="a", label="no"))
        assert [e.id for e in read_data(path).examples] == ["a", "b"]
        task, reader, examples = stream(path)
        assert task is None
        assert [e.id for e in examples] == ["b", "a"]
        assert reader.skipped == Counter()


@pytest.mark.parametrize("spec", ["derange", "shuffle_ngrams:n=2+reverse", "swap_texts"])
def test_perturbed_texts_can_be_read_back_as_data(write: Callable[..., str], spec: str) -> None:
    path = write("".join(json.dumps(row) + "\n" for row in pairs(6)))
    records = list(perturb(path, with_=spec, q=3))
    back = read_data(
        write(
            "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records),
            "perturbed.jsonl",
        )
    )
    assert back.skipped == {}
    assert {(e.text_a, e.text_b, e.label) for e in back.examples} == {
        (r["text_a"], r["text_b"], r["label"]) for r in records
    }
    assert len(back.examples) == len(records)


class TestHub:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> str:
        pytest.importorskip("datasets", reason="needs datasets")
        home = tmp_path / "set"
        home.mkdir()
        rows = [
            {"premise": "A dog barks", "hypothesis": "An animal", "label": "entailment"},
            {"premise": "A cat sleeps", "hypothesis": "A dog", "label": "neutral"},
        ]
        (home / "validation.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        return str(home)

    @pytest.mark.filterwarnings("ignore")
    def test_a_local_folder_is_read_and_its_columns_are_found(self, folder: str) -> None:
        dataset = read_data(f"hf:{folder}:validation")
        assert sorted((e.text_a, e.text_b, e.label) for e in dataset.examples) == [
            ("A cat sleeps", "A dog", "neutral"),
            ("A dog barks", "An animal", "entailment"),
        ]

    @pytest.mark.filterwarnings("ignore")
    @pytest.mark.parametrize("split", ["test", ""])
    def test_a_split_that_is_not_there_is_one_clear_line(self, folder: str, split: str) -> None:
        with pytest.raises(BadData, match="hf:") as caught:
            read_data(f"hf:{folder}:{split}")
        assert "\n" not in str(caught.value)
