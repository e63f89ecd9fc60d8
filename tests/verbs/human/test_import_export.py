"""Answers are exported and imported unchanged; a file with one bad row changes nothing."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from disorder.errors import DisorderError
from disorder.verbs.human.answer_store import AnswerStore, export, import_answers
from disorder.verbs.human.task_folder import Annotator, HumanTask, ItemKey, TaskItem, write_folder

LABELS = ["entailment", "neutral", "contradiction", "=cmd|'/C calc'!A0"]
HOSTILE = 'a "quoted", comma\nnew line =1+1 <b> \u202e'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    task = HumanTask(
        kind="label",
        question="?",
        labels=LABELS,
        text_names=["Premise", "Hypothesis"],
        source="x",
        seed=0,
        n_items=4,
        made="now",
    )
    items = [TaskItem(item=f"i{k}", text_a=f"{HOSTILE} {k}", text_b="b") for k in range(4)]
    key = [
        ItemKey(
            item=f"i{k}",
            gold="neutral",
            transformation="derange",
            label="neutral",
            length="short",
            example=f"e{k}",
            original_a="SECRET",
        )
        for k in range(4)
    ]
    write_folder(
        tmp_path / "task",
        task,
        items,
        key,
        instructions="",
        annotators=[Annotator(name="ann", token="t" * 20)],
    )
    return tmp_path / "task"


def write_rows(path: Path, *rows: str, header: str = "item,annotator,answer") -> Path:
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_export_and_import_change_nothing(folder: Path, tmp_path: Path, suffix: str) -> None:
    store = AnswerStore(folder)
    store.answer("ann", "i0", 1, "neutral", 1.25)
    store.answer("ann", "i1", 1, "entailment", 2.0)
    store.undo("ann", "i1", 1)
    store.answer("ann", "i1", 2, "contradiction", 3.0)
    out = tmp_path / f"answers.{suffix}"
    assert export(folder, out) == 2
    before = store.answers(with_undone=True)
    assert import_answers(folder, out) == (0, 2)
    assert store.answers(with_undone=True) == before
    (folder / "answers.sqlite").unlink()
    assert import_answers(folder, out) == (2, 0)
    assert [(a.item, a.answer, a.seconds, a.source) for a in store.answers()] == [
        ("i0", "neutral", 1.25, "import"),
        ("i1", "contradiction", 3.0, "import"),
    ]


def test_history_holds_what_was_undone(folder: Path, tmp_path: Path) -> None:
    store = AnswerStore(folder)
    store.answer("ann", "i0", 1, "neutral", 1.0)
    store.undo("ann", "i0", 1)
    assert export(folder, tmp_path / "h.jsonl", what="history") == 1
    assert json.loads((tmp_path / "h.jsonl").read_text())["undone"]
    with pytest.raises(DisorderError, match="no answers yet"):
        export(folder, tmp_path / "a.csv")


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_items_are_exported_exactly_and_without_the_key(
    folder: Path, tmp_path: Path, suffix: str
) -> None:
    out = tmp_path / f"items.{suffix}"
    assert export(folder, out, what="items") == 4
    text = out.read_text(encoding="utf-8")
    assert "SECRET" not in text
    with out.open(encoding="utf-8", newline="") as file:
        rows = (
            list(csv.DictReader(file)) if suffix == "csv" else [json.loads(line) for line in file]
        )
    assert [row["text_a"] for row in rows] == [f"{HOSTILE} {k}" for k in range(4)]
    assert rows[0]["labels"] == "|".join(LABELS)
    assert set(rows[0]) == {"item", "text_a", "text_b", "question", "labels"}


def test_importing_twice_changes_nothing(folder: Path, tmp_path: Path) -> None:
    file = write_rows(
        tmp_path / "crowd.csv",
        "i0,w1,neutral",
        "i1,w1,entailment",
        "i0,w2,neutral",
        "i0,w2,neutral",
    )
    assert import_answers(folder, file) == (3, 1)
    assert import_answers(folder, file) == (0, 4)
    assert len(AnswerStore(folder).answers(with_undone=True)) == 3


@pytest.mark.parametrize(
    ("row", "wrong"),
    [
        ("i9,w1,neutral", "row 3: 'i9' is not an item"),
        ("i1,,neutral", "row 3: '' cannot be the name"),
        ("i1,w1,Neutral", "row 3: answer 'Neutral' is none of entailment, neutral, contradiction"),
        ("i1,w1", "row 3: not as many columns"),
        ("i1,w1,neutral,x", "row 3: not as many columns"),
        ("i0,w1,entailment", "row 3: w1 answers i0 with 'entailment', but in row 2 with 'neutral'"),
        (
            "i3,ann,entailment",
            "row 3: ann answers i3 with 'entailment', but in the task folder with 'neutral'",
        ),
    ],
)
def test_one_bad_row_and_nothing_is_stored(
    folder: Path, tmp_path: Path, row: str, wrong: str
) -> None:
    store = AnswerStore(folder)
    store.answer("ann", "i3", 1, "neutral", 1.0)
    with pytest.raises(DisorderError, match="nothing was imported") as error:
        import_answers(
            folder, write_rows(tmp_path / "bad.csv", "i0,w1,neutral", row, "i2,w1,neutral")
        )
    assert wrong in str(error.value)
    assert len(store.answers()) == 1


@pytest.mark.parametrize(
    ("name", "content", "wrong"),
    [
        ("a.csv", b"item,answer\ni0,neutral\n", "no column 'annotator'"),
        ("a.csv", b"", "no column 'item'"),
        ("a.csv", b"item,annotator,answer\n", "holds no answers"),
        ("a.csv", b"\xff\xfe\x00", "cannot be read"),
        ("a.csv", b'item,annotator,answer\n"i0,ann,neutral\n', "unexpected end of data"),
        ("a.jsonl", b'{"item": "i0"}\n', "line 1: no column 'annotator'"),
        ("a.jsonl", b"{\n", "line 1: not JSON"),
        ("a.jsonl", b"[]\n", "line 1: expected an object"),
        (
            "a.jsonl",
            b'{"item": "i0", "annotator": "w", "answer": "neutral", "seconds": "nan"}',
            "seconds 'nan' is not a time",
        ),
        ("a.xlsx", b"", "name it .csv or .jsonl"),
    ],
)
def test_a_file_that_cannot_be_read_is_an_error(
    folder: Path, tmp_path: Path, name: str, content: bytes, wrong: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DisorderError, match=wrong):
        import_answers(folder, tmp_path / name)
    assert not AnswerStore(folder).answers()


def test_a_spreadsheets_byte_order_mark_is_no_part_of_a_name(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(
        "item,annotator,answer\r\ni0,ann,neutral\r\n", encoding="utf-8-sig", newline=""
    )
    assert import_answers(folder, tmp_path / "a.csv") == (1, 0)


def test_a_label_that_begins_like_a_formula_is_text_in_a_spreadsheet_and_comes_back(
    folder: Path, tmp_path: Path
) -> None:
    given = json.dumps({"item": "i0", "annotator": "ann", "answer": LABELS[-1]})
    (tmp_path / "given.jsonl").write_text(given, encoding="utf-8")
    assert import_answers(folder, tmp_path / "given.jsonl") == (1, 0)
    export(folder, tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        [row] = csv.DictReader(file)
    assert row["answer"] == f"'{LABELS[-1]}"
    assert import_answers(folder, tmp_path / "out.csv") == (0, 1)
