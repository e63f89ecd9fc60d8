"""disorder.perturb: records made lazily, counted, saved, and read again as data."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import disorder
from conftest import Command, pairs
from disorder.data import read_data
from disorder.errors import DisorderError
from disorder.types import DISORDER
from disorder.verbs.perturb import PerturbedTexts, perturb

ROWS = [
    {"id": "1", "text_a": "one two three four.", "text_b": "five six seven eight.", "label": "x"},
    {"id": "2", "text_a": "nine ten eleven twelve.", "text_b": "Yes.", "label": "y"},
    {"id": "3", "text_a": "unlabelled words stand here.", "text_b": "so they do.", "label": ""},
]
KEYS = ["id", "transformation", "variant", "text_a", "text_b"]
KEYS += ["label", "positions_a", "positions_b", *DISORDER]


def test_it_is_a_public_function_with_documented_keywords() -> None:
    parameters = inspect.signature(disorder.perturb).parameters
    keywords = [name for name in parameters if name != "data"]
    assert all(parameters[name].kind is inspect.Parameter.KEYWORD_ONLY for name in keywords)
    described = str(inspect.getdoc(disorder.perturb))
    assert all(f"\n{name}: " in described for name in parameters)


def test_one_transformation_or_a_list_of_them() -> None:
    one = list(perturb(ROWS, with_="reverse", fidelity="paper"))
    two = list(perturb(ROWS, with_=["reverse", "sort"], fidelity="paper"))
    assert [list(record) for record in one] == [KEYS, KEYS]
    assert one[0]["text_b"] == "eight seven six five."
    assert one[0]["positions_b"] == [3, 2, 1, 0, 4]
    assert [record["transformation"] for record in two] == ["reverse", "reverse", "sort", "sort"]


@pytest.mark.parametrize("form", ["path", "string", "frame", "dataset"])
def test_every_form_of_data_gives_the_same_texts(tmp_path: Path, form: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    forms: dict[str, Callable[[], Any]] = {
        "path": lambda: path,
        "string": lambda: str(path),
        "frame": lambda: pd.DataFrame(ROWS),
        "dataset": lambda: read_data(path),
    }
    given = perturb(forms[form](), with_="derange", q=2, seed=5, short="use")
    assert list(given) == list(perturb(ROWS, with_="derange", q=2, seed=5, short="use"))
    assert given.skips["data"] == {"no gold label": 1}


def test_counts_are_filled_while_iterating_and_begin_again_with_every_iteration() -> None:
    texts = perturb(ROWS, with_="derange", q=2, fidelity="paper")
    assert (texts.written, texts.skips) == ({}, {})
    records = iter(texts)
    next(records)
    assert texts.written == {"derange": 2}
    assert "data" not in texts.skips
    assert len(list(records)) == 1
    assert sum(texts.skips["derange"].values()) == 1
    assert texts.skips["data"] == {"no gold label": 1}
    assert list(texts) == list(texts)
    assert texts.written == {"derange": 2}


def test_removed_words_are_counted_per_text() -> None:
    texts = perturb(ROWS, with_="drop_text:side=b", fidelity="paper")
    assert len(list(texts)) == 2
    assert texts.removed == {"drop_text:side=b": {"a": 0, "b": 7}}


def test_saved_records_can_be_read_again_as_data(tmp_path: Path) -> None:
    texts = perturb(ROWS, with_="reverse")
    path = texts.save(tmp_path / "new" / "perturbed.jsonl")
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == list(texts)
    assert len(read_data(path).examples) == 2
    assert [each.name for each in path.parent.iterdir()] == ["perturbed.jsonl"]


def test_a_failure_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "kept.jsonl"
    path.write_text("before", encoding="utf-8")
    broken = [*ROWS, {"id": "1", "text_a": "another text", "text_b": "b", "label": "x"}]
    with pytest.raises(DisorderError, match="used before"):
        perturb(broken, with_="reverse").save(path)
    assert path.read_text(encoding="utf-8") == "before"
    assert len(list(tmp_path.iterdir())) == 1


def test_the_data_itself_is_not_written_over(
    jsonl: Callable[..., Path],
) -> None:
    """By another name of it, too: a link, and a data set of the data folder."""
    path = jsonl([{**row, "label": "entailment"} for row in ROWS])
    before = path.read_bytes()
    link = path.with_name("link.jsonl")
    link.symlink_to(path)
    for data, out in ((path, path), (link, path), (path, link), (f"{link}+{path}", path)):
        with pytest.raises(DisorderError, match="is the data itself"):
            perturb(str(data), with_="reverse").save(out)
    (path.parent / "rte").mkdir()
    named = path.rename(path.parent / "rte" / "dev.jsonl")
    with pytest.raises(DisorderError, match="is the data itself"):
        perturb("rte:dev", with_="reverse", data_dir=named.parent.parent).save(named)
    assert named.read_bytes() == before


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"wiht_": "derange"}, "unknown keyword of perturb 'wiht_'; did you mean 'with_'"),
        ({"with_": "derang"}, "did you mean 'derange'"),
        ({"suite": "alldorp"}, "did you mean 'alldrop'"),
        ({}, "say how to perturb the texts"),
        ({"with_": "sort", "suite": "alldrop"}, "say how to perturb the texts"),
        ({"with_": "sort", "q": 0}, "q=0 does not work; need 1 or more"),
        ({"with_": "sort", "limit": 0}, "limit=0 does not work"),
        ({"with_": "sort", "short": "drop"}, "need skip or use"),
        ({"with_": "sort", "columns": "x"}, "columns='x': write it as"),
        ({"with_": "drop_least", "model": "bow", "labels": "x"}, "labels='x': write it as"),
    ],
)
def test_a_mistake_shows_before_anything_is_made(keywords: dict[str, Any], message: str) -> None:
    with pytest.raises(DisorderError, match=message.replace("(", r"\(")):
        perturb(ROWS, **keywords)


def test_its_repr_says_what_is_made() -> None:
    texts = perturb(ROWS, with_=["sort", "derange"], q=3)
    assert isinstance(texts, PerturbedTexts)
    assert repr(texts) == "PerturbedTexts(sort, derange; q=3, seed=0)"


def test_rows_to_train_on_have_the_label_to_learn(tmp_path: Path) -> None:
    rows = pairs(6)
    found = perturb(rows, with_=["reverse", "sort"])
    out = found.save(tmp_path / "train.jsonl", as_="training")
    written = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["label"] for row in written[:6]] == [row["label"] for row in rows]
    assert {row["label"] for row in written[6:]} == {"invalid"}
    assert len(written) == 18
    assert len({row["id"] for row in written}) == 18
    gold = {row["id"]: row["label"] for row in rows}
    assert all(row["gold"] == gold[row["id"].split("#")[0]] for row in written)
    assert written[6]["text_b"] == next(iter(found))["text_b"]
    assert read_data(out).task.labels[-1] == "invalid" or "invalid" in read_data(out).task.labels
    taken = [{**row, "label": "invalid"} for row in rows]
    with pytest.raises(DisorderError, match="a label 'invalid' of its own"):
        list(perturb(taken, with_="reverse").training_rows())


def test_the_help_names_the_columns_that_are_written(run: Command) -> None:
    """Of the measures the first ones, so that it stays short."""
    told = " ".join(run("perturb", "--help")[1].split())
    lines, training = told.partition("Each line holds ")[2].split("; with --as training ")
    texts = disorder.perturb("builtin", with_="derange", limit=2)
    names = lines.partition(" and measures")[0].split(", ")
    first = next(iter(texts))
    assert [*first][: len(names)] == names
    assert {"global_disorder", "local_disorder"} <= {*first}
    rows = [{*row} for row in texts.training_rows()]
    assert set.union(*rows) == {*training.partition(".")[0].replace(" and ", ", ").split(", ")}
