"""Data as Python has it: frames, Arrow, `datasets`, columns, (texts, labels), rows of tuples."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from disorder.data import read_data
from disorder.errors import BadData

TEXTS = [f"this is the {i} review of it" for i in range(20)]
SECOND = [text[5:] for text in TEXTS]
LABELS = ["pos", "neg"] * 10
NUMBERS = [1, 0] * 10
COLUMNS = {"review": TEXTS, "mood": LABELS}
TUPLES = list(zip(TEXTS, LABELS, strict=True))


def library(name: str) -> Any:
    return pytest.importorskip(name)


def hub(splits: dict[str, dict[str, Any]]) -> Any:
    datasets = library("datasets")
    return datasets.DatasetDict({k: datasets.Dataset.from_dict(v) for k, v in splits.items()})


def with_classes() -> Any:
    datasets = library("datasets")
    features = datasets.Features(
        {"review": datasets.Value("string"), "mood": datasets.ClassLabel(names=["neg", "pos"])}
    )
    return datasets.Dataset.from_dict({"review": TEXTS, "mood": NUMBERS}, features=features)


def lazy() -> Any:
    polars = library("polars")
    mood = polars.col("mood").cast(polars.Categorical)
    return polars.LazyFrame(COLUMNS).with_columns(mood)


SINGLE: dict[str, Callable[[], Any]] = {
    "columns": lambda: COLUMNS,
    "columns of arrays": lambda: {name: np.array(each) for name, each in COLUMNS.items()},
    "texts and labels": lambda: (TEXTS, LABELS),
    "tuples of texts and labels": lambda: (tuple(TEXTS), tuple(LABELS)),
    "a list of two lists": lambda: [TEXTS, LABELS],
    "arrays": lambda: (np.array(TEXTS), np.array(LABELS)),
    "series": lambda: (library("pandas").Series(TEXTS), library("pandas").Series(LABELS)),
    "tuples": lambda: TUPLES,
    "an array of rows": lambda: np.array(TUPLES),
    "an array with names": lambda: np.array(TUPLES, dtype=[("text", "U50"), ("label", "U9")]),
    "Arrow": lambda: pa.table(COLUMNS),
    "a batch of Arrow": lambda: pa.RecordBatch.from_pydict(COLUMNS),
    "arrays of Arrow": lambda: (pa.chunked_array([TEXTS]), pa.array(LABELS)),
    "pandas": lambda: library("pandas").DataFrame(COLUMNS),
    "pandas with categories": lambda: (
        library("pandas").DataFrame(COLUMNS).astype({"mood": "category"})
    ),
    "polars": lambda: library("polars").DataFrame(COLUMNS),
    "polars lazy": lazy,
    "a dataset": lambda: hub({"train": COLUMNS})["train"],
    "a stream": lambda: hub({"train": COLUMNS})["train"].to_iterable_dataset(),
    "a dataset with classes": with_classes,
    "one split": lambda: hub({"train": COLUMNS}),
    "its test split": lambda: hub({"train": {"text": ["no"], "label": ["x"]}, "test": COLUMNS}),
    "columns of a dataset": lambda: (hub({"a": COLUMNS})["a"]["review"], LABELS),
}


@pytest.mark.parametrize("form", SINGLE)
def test_texts_with_labels_are_read(form: str) -> None:
    found = read_data(SINGLE[form]()).examples
    assert {(example.text_a, example.label) for example in found} == set(TUPLES)


@pytest.mark.parametrize(
    "given",
    [
        (TEXTS, SECOND, LABELS),
        (list(zip(TEXTS, SECOND, strict=True)), LABELS),
        list(zip(TEXTS, SECOND, LABELS, strict=True)),
        [((a, b), label) for a, b, label in zip(TEXTS, SECOND, LABELS, strict=True)],
        {"text1": TEXTS, "text2": SECOND, "same": LABELS},
    ],
)
def test_pairs_with_labels_are_read(given: Any) -> None:
    found = read_data(given).examples
    expected = set(zip(TEXTS, SECOND, LABELS, strict=True))
    assert {(example.text_a, example.text_b, example.label) for example in found} == expected


def test_numbers_are_labels() -> None:
    torch = library("torch")
    for labels in (NUMBERS, np.array(NUMBERS), torch.tensor(NUMBERS), np.array(NUMBERS) == 1):
        task = read_data((TEXTS, labels)).task
        assert task.labels in (("0", "1"), ("False", "True"))


def test_gaps_of_a_frame_are_no_labels() -> None:
    pandas = library("pandas")
    for gap in (None, np.nan, pandas.NA):
        frame = pandas.DataFrame({"review": TEXTS, "mood": [gap, *LABELS[1:]]})
        found = read_data(frame)
        assert len(found.examples) == len(TEXTS) - 1
        assert found.skipped == {"no gold label": 1}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ((TEXTS, LABELS[:3]), "its columns differ in length (text_a 20, label 3)"),
        ({"text": TEXTS, "label": "pos"}, "its 'label' is no list of values"),
        (TEXTS, "no column 'label'"),
        (TEXTS, "as (texts, labels)"),
        ([1, 2], "expected an object with columns, got int"),
        (5, "data cannot be a int; give a spec, rows"),
        ((("a b", "x"), ("c d", "y")), "can be read as rows and as columns"),
        ([], "it is empty"),
        ({}, "it is empty"),
    ],
)
def test_what_cannot_be_read_is_told_in_a_line(given: Any, told: str) -> None:
    with pytest.raises(BadData) as raised:
        read_data(given)
    assert told in str(raised.value)
    assert "\n" not in str(raised.value)


def test_splits_that_leave_a_choice_are_named() -> None:
    with pytest.raises(BadData, match=r"the splits train, dev: give one of them, data\['train'\]"):
        read_data(hub({"train": COLUMNS, "dev": COLUMNS}))
    with pytest.raises(BadData, match=r"data\['validation'\]"):
        read_data(hub({"train": COLUMNS, "validation": COLUMNS, "test": COLUMNS}))


def test_the_libraries_are_not_imported_to_look_at_an_object() -> None:
    """A list needs no pandas."""
    code = """
import sys
from disorder.data import read_data
read_data(([f"{i} a b" for i in range(9)], ["x", "y", "z"] * 3))
sys.exit(bool({"pandas", "polars", "datasets"} & {*sys.modules}))
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


NAMED = {"text_a": TEXTS, "text_b": SECOND, "label": LABELS}


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("order", list(permutations(NAMED)))
def test_named_columns_go_by_name(order: tuple[str, ...], n: int) -> None:
    names = [name for name in order if n == 3 or name != "text_b"]
    columns = {name: NAMED[name] for name in names}
    table = np.array(list(zip(*columns.values(), strict=True)), dtype=[(x, "U50") for x in names])
    for given in (columns, table):
        found = read_data(given).examples
        assert {(e.text_a, e.label) for e in found} == set(TUPLES)
        assert {e.text_b for e in found} == (set(SECOND) if n == 3 else {None})


def test_one_named_column_is_read() -> None:
    assert len(read_data({"text_a": TEXTS}, needs_gold=False).examples) == len(TEXTS)


def test_columns_that_pass_for_rows_are_an_error() -> None:
    for n in (2, 3):
        with pytest.raises(BadData, match="as rows and as columns"):
            read_data(tuple(zip(*TUPLES[:n], strict=True)))


@pytest.mark.parametrize("form", ["numpy", "torch"])
def test_a_format_of_a_dataset_changes_nothing(form: str) -> None:
    library(form)
    found = read_data(with_classes().with_format(form)).examples
    assert {(example.text_a, example.label) for example in found} == set(TUPLES)


def test_columns_of_pandas_that_are_numbers() -> None:
    frame = library("pandas").DataFrame({0: TEXTS, 1: LABELS})
    found = read_data(frame, columns={"0": "text_a", "1": "label"}).examples
    assert {(example.text_a, example.label) for example in found} == set(TUPLES)


def test_gaps_make_no_fractions_of_whole_numbers() -> None:
    frame = library("pandas").DataFrame({"text": TEXTS, "label": [*NUMBERS[:-1], None]})
    assert frame["label"].dtype == float
    found = read_data(frame)
    assert found.task.labels == ("0", "1")
    assert len(found.examples) == len(TEXTS) - 1


@pytest.mark.parametrize(
    ("row", "segment"),
    [
        ({"question": "Who was it?", "answers": ["Ada", "A. L."]}, "answers"),
        ({"question": "Who was it?", "answers": {"text": ["Ada"], "answer_start": [3]}}, "answers"),
        ({"query": "who was it", "positives": ["Ada"], "negatives": ["Al", "Bo"]}, "candidates"),
        ({"question": "Who was it?", "options": ["Ada", "Al"], "answer": "A"}, "options"),
    ],
)
def test_lists_that_pandas_holds_as_arrays_are_lists(row: dict[str, Any], segment: str) -> None:
    rows = [row | {"id": str(i)} for i in range(3)]

    def as_array(cell: Any) -> Any:
        if isinstance(cell, dict):
            return {name: as_array(each) for name, each in cell.items()}
        return np.array(cell, dtype=object) if isinstance(cell, list) else cell

    frame = library("pandas").DataFrame(
        [{name: as_array(cell) for name, cell in each.items()} for each in rows]
    )
    kept = {"language": "en", "task": "text" if segment == "answers" else None}
    expected = [example.segments[segment] for example in read_data(rows, **kept).examples]
    assert [example.segments[segment] for example in read_data(frame, **kept).examples] == expected
