"""Which columns are texts and labels: by name, by what they hold, never silently wrong."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from disorder.data import read_data, stream
from disorder.data.guessing import guess
from disorder.errors import BadData, naming_options

N = 40
SENTENCE = "the film was long and the food in that house kept its price for years"
WORDS = SENTENCE.split()


def text(i: int, length: int = 9) -> str:
    return " ".join(WORDS[(i * 7 + k * k + i * k) % len(WORDS)] for k in range(length)) + f" {i}."


def rows(**columns: Any) -> list[dict[str, Any]]:
    return [{name: make(i) for name, make in columns.items()} for i in range(N)]


def is_good(i: int) -> bool:
    return i % 3 == 0


def mood(i: int) -> str:
    return "good" if is_good(i) else "bad"


def shorter(i: int) -> str:
    return text(i + 50, 6)


READINGS: dict[str, tuple[list[dict[str, Any]], Mapping[str, str]]] = {
    "review and sentiment": (
        rows(review=text, sentiment=mood),
        {"review": "text_a", "sentiment": "label"},
    ),
    "odd names": (
        rows(**{"": lambda i: i, "Customer Review": text, "Mood of it": mood}),
        {"Customer Review": "text_a", "Mood of it": "label"},
    ),
    "claims": (
        rows(
            context=text, claim=shorter, verdict=lambda i: ["supported", "not enough info"][i % 2]
        ),
        {"context": "text_a", "claim": "text_b", "verdict": "label"},
    ),
    "numbers": (rows(tweet=text, y=lambda i: i % 2), {"tweet": "text_a", "y": "label"}),
    "floats": (
        rows(body=text, rating=lambda i: f"{i % 5}.0"),
        {"body": "text_a", "rating": "label"},
    ),
    "truth values": (rows(message=text, isSpam=is_good), {"message": "text_a", "isSpam": "label"}),
    "written truth values": (
        rows(message=text, urgent=lambda i: str(is_good(i)).upper()),
        {"message": "text_a", "urgent": "label"},
    ),
    "numbered texts": (
        rows(text_1=text, text_2=shorter, similar=is_good),
        {"text_1": "text_a", "text_2": "text_b", "similar": "label"},
    ),
    "similarity": (
        rows(sentence1=text, sentence2=shorter, score=lambda i: i / 7),
        {"sentence1": "text_a", "sentence2": "text_b", "score": "label"},
    ),
    "aside": (
        rows(
            review_id=lambda i: f"R{i}",
            date=lambda i: f"2024-01-{i % 9 + 1:02} 10:00:00",
            url=lambda i: f"https://example.com/some/page/{i}",
            author=lambda i: ["Ann Lee", "Bo Li", "Cy Young", "Di Day"][i % 4],
            country=lambda i: "fr" if i % 2 else "de",
            remark=text,
            outcome=mood,
        ),
        {"remark": "text_a", "outcome": "label"},
    ),
    "a constant": (
        rows(remark=text, outcome=mood, version_of_form=lambda i: "3"),
        {"remark": "text_a", "outcome": "label"},
    ),
    "missing values": (
        rows(
            remark=lambda i: None if i % 5 == 0 else text(i),
            outcome=lambda i: float("nan") if i % 7 == 0 else mood(i),
        ),
        {"remark": "text_a", "outcome": "label"},
    ),
    "new lines": (
        rows(remark=lambda i: text(i) + "\n\n" + text(i + 1), outcome=mood),
        {"remark": "text_a", "outcome": "label"},
    ),
    "no spaces": (
        rows(
            评论=lambda i: f"我很喜欢这个东西因为它{i}很好",
            情感=lambda i: "正面" if i % 2 else "负面",
        ),
        {"评论": "text_a", "情感": "label"},
    ),
    "many labels": (
        rows(utterance=text, intent=lambda i: f"intent_{i % 13}"),
        {"utterance": "text_a", "intent": "label"},
    ),
    "passages": (
        rows(question=shorter, passage=text, answer=is_good),
        {"question": "text_a", "passage": "text_b", "answer": "label"},
    ),
    "text comes before its title": (rows(title=shorter, text=text, label=mood), {"text": "text_a"}),
    "a short title": (
        rows(title=lambda i: f"Great {WORDS[i % 14]}", review=text, label=mood),
        {"review": "text_a"},
    ),
    "a sure name in words": (
        rows(review=text, **{"Gold Label": mood, "Predicted Label": mood}),
        {"review": "text_a", "Gold Label": "label"},
    ),
    "a label before a score": (
        rows(review=text, mood=mood, score=lambda i: i / 7),
        {"review": "text_a", "mood": "label"},
    ),
    "an empty column with a sure name": (
        rows(review=text, gold=lambda i: "", mood=mood),
        {"review": "text_a", "mood": "label"},
    ),
    "arrays aside": (
        rows(review=text, mood=mood, embedding=lambda i: np.ones(3), words=lambda i: ["a", "b"]),
        {"review": "text_a", "mood": "label"},
    ),
}


@pytest.mark.parametrize("name", READINGS)
def test_columns_are_found(name: str) -> None:
    data, expected = READINGS[name]
    assert guess(data, {}, needs_gold=True).columns == expected


TWO_READINGS: dict[str, tuple[list[dict[str, Any]], str]] = {
    "a usual name and a label": (
        rows(review=text, sentiment=mood, part=lambda i: f"part{i % 3}"),
        "the label can be sentiment or part; say which, for instance --columns sentiment=label",
    ),
    "a label and something that is": (
        rows(review=text, mood=mood, is_verified=is_good),
        "the label can be mood or is_verified",
    ),
    "a label and a topic": (
        rows(review=text, topic=lambda i: f"t{i % 4}", mood=mood),
        "the label can be topic or mood",
    ),
    "three texts": (
        rows(title=shorter, review=text, summary=shorter, label=mood),
        "the text can be title or review or summary; say which, for instance --columns "
        "title=text_a or --columns summary=text_a",
    ),
    "two texts": (
        rows(message=text, reply=shorter, label=mood),
        "the text can be message or reply or message with reply; say which, for instance "
        "--columns message=text_a or --columns message=text_a,reply=text_b",
    ),
    "a question and something": (
        rows(question=shorter, remark=text, label=mood),
        "the text can be question or remark or question with remark",
    ),
    "two labels": (
        rows(review=text, sentiment=mood, rating=lambda i: i % 5),
        "the label can be sentiment or rating; say which, for instance --columns sentiment=label",
    ),
    "two labels without usual names": (
        rows(review=text, tone=mood, part=lambda i: f"p{i % 4}"),
        "the label can be tone or part",
    ),
    "both": (
        rows(message=text, reply=shorter, tone=mood, part=mood),
        "message=text_a,tone=label",
    ),
}


@pytest.mark.parametrize("name", TWO_READINGS)
def test_two_readings_are_an_error_that_shows_what_to_type(name: str) -> None:
    data, expected = TWO_READINGS[name]
    with naming_options(), pytest.raises(BadData) as raised:
        read_data(data)
    assert expected in str(raised.value)
    assert "\n" not in str(raised.value)


def test_what_is_typed_is_taken_and_the_rest_is_found() -> None:
    data, _ = TWO_READINGS["three texts"]
    found = read_data(data, columns="review=text_a")
    assert {e.text_a for e in found.examples} == {row["review"] for row in data}
    data, _ = TWO_READINGS["two labels"]
    assert read_data(data, columns="rating=label").task.labels == ("0", "1", "2", "3", "4")


DIRECTIONS = (
    "Customer Review=text_a,Mood=label",
    "text_a=Customer Review,label=Mood",
    "Customer Review=text,label=Mood",
    "text=Customer Review,Mood=label",
)


@pytest.mark.parametrize("columns", DIRECTIONS)
def test_columns_are_named_in_either_direction(columns: str) -> None:
    data = rows(**{"Customer Review": text, "Mood": mood, "Note": shorter})
    found = read_data(data, columns=columns)
    assert {e.text_a for e in found.examples} == {row["Customer Review"] for row in data}
    assert found.task.labels == ("bad", "good")


def test_the_documented_direction_comes_first() -> None:
    data = rows(context=text, text_a=shorter, label=mood)
    found = read_data(data, columns={"context": "text_a"})
    assert {e.text_a for e in found.examples} == {row["context"] for row in data}


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ("reviews=text_a", "no column 'reviews'; did you mean 'review'"),
        ("review=tekst", "write COLUMN=WHAT"),
        ("review=text_a,mood=text_a", "two columns are text_a"),
    ],
)
def test_wrong_columns_are_told(columns: str, told: str) -> None:
    with pytest.raises(BadData, match=told):
        read_data(rows(review=text, mood=mood), columns=columns)


def test_a_column_that_is_misspelled_is_told_before_what_may_be_meant_by_others() -> None:
    data = rows(review=text, mood=mood, other=lambda i: "abc"[i % 3])
    with pytest.raises(BadData, match="no column 'moods'; did you mean 'mood'"):
        read_data(data, columns="moods=label")


def test_all_that_is_missing_is_asked_for_at_once() -> None:
    with naming_options(), pytest.raises(BadData) as raised:
        read_data(rows(number=lambda i: i, where=lambda i: f"https://a.b/{i}"))
    assert "no column 'text_a' and no 'label'" in str(raised.value)
    assert "--columns NAME=text_a,NAME=label" in str(raised.value)


def test_a_guess_is_said_in_one_line(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "disorder"):
        read_data(rows(review=text, sentiment=mood))
    (record,) = caplog.records
    assert record.getMessage() == (
        "data: column review is read as text_a, sentiment as label (columns says otherwise)"
    )
    assert record.levelname == "WARNING"  # which Python shows to whoever sets up no logging


def test_a_text_that_nobody_reads_is_mentioned(caplog: pytest.LogCaptureFixture) -> None:
    data = rows(context=text, claim=shorter, verdict=mood)
    with caplog.at_level(logging.INFO, "disorder"):
        read_data(data, columns="context=text_a,verdict=label")
        read_data(data, columns="context=text_a,verdict=label", wanted=["claim"])
        read_data(data, columns="context=text_a,verdict=label", family="claim")
    assert [record.getMessage() for record in caplog.records] == [
        "data: column claim looks like a text and is not read"
    ]


def test_a_file_of_a_spreadsheet_is_read(tmp_path: Path) -> None:
    """With a byte order mark, semicolons, cells with new lines, and a comma in the header."""
    path = tmp_path / "export.csv"
    out = io.StringIO()
    out.write('sep=;\r\nNr.;"Review, as written";Sentiment\r\n')
    for i in range(N):
        out.write(f'{i};"{text(i)}\r\nSaid ""{i}""; twice";{mood(i)}\r\n')
    out.write(";;\r\n")
    path.write_bytes(b"\xef\xbb\xbf" + out.getvalue().encode())
    found = read_data(str(path))
    assert len(found.examples) == N
    assert found.task.labels == ("bad", "good")
    assert all("; twice" in example.text_a for example in found.examples)


def test_rows_that_are_sorted_by_their_label(tmp_path: Path) -> None:
    data = [
        {"review": text(i), "mood": "good" if i < 1200 else "bad", "stars": i % 5}
        for i in range(2400)
    ]
    with pytest.raises(BadData, match="the label can be mood or stars"):
        read_data(data)
    plain = [{name: row[name] for name in ("review", "mood")} for row in data]
    assert read_data(plain).task.labels == ("bad", "good")
    with pytest.raises(BadData, match="the label can be stars or mood"):
        next(stream(iter_of(tmp_path, data))[2])


def iter_of(folder: Path, data: list[dict[str, Any]]) -> str:
    path = folder / "sorted.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in data))
    return str(path)


def test_a_question_whose_first_answer_is_missing_keeps_its_options() -> None:
    data = [
        {
            "question": f"Which of these is number {i}?",
            "options": [f"one {i}", f"two {i}", f"three {i}"],
            "answer": None if i == 0 else i % 3,
        }
        for i in range(20)
    ]
    found = read_data(data)
    assert found.task.kind == "choice"
    assert len(found.examples) == 19


def test_a_value_that_is_not_utf8_matters_only_where_it_is_used(tmp_path: Path) -> None:
    data = rows(review=text, mood=mood)
    odd = pa.array([b"caf\xe9"] * N).view(pa.string())
    table = pa.Table.from_pylist(data).append_column("note", odd)
    pa.parquet.write_table(table, tmp_path / "odd.parquet")
    for given in (table, str(tmp_path / "odd.parquet")):
        assert len(read_data(given).examples) == N
