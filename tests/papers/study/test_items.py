"""Study items come through the registry: those of the papers and those of plugins alike."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import disorder
from disorder.errors import BadData, DisorderError, UnknownName
from disorder.papers.study import StudyItem, find_item, read_items, study_items
from disorder.papers.study.pipelines.human_table import Illustration
from disorder.papers.study.published_tables import published_tables
from disorder.registry import part, parts_of, register, unregister
from disorder.transformations.applying.parsing import CLASSES

Command = Callable[..., tuple[int, str, str]]
PLUGIN_TABLE = """
[names]
some = ["reverse"]
[table1]
title = "A bag of words under two transformations"
unit = "percent"
columns = ["accuracy"]
[[table1.rows]]
model = "Bag"
data = "builtin"
transformation = "reverse"
cells = { accuracy = "61.20" }
[table1.item]
data = ["builtin"]
models = { "builtin:bow" = "Bag" }
[table1.item.audit_table]
columns = { accuracy = "accuracy" }
transformations = ["$some", "sort"]
by_transformation = true
q = 1
"""


@pytest.fixture
def plugin(tmp_path: Path) -> Iterator[StudyItem]:
    """An item as a plugin registers it: one file, with the printed numbers."""
    path = tmp_path / "mine.toml"
    path.write_text(PLUGIN_TABLE, encoding="utf-8")
    read_items(path)
    yield part(StudyItem, "mine/table1")
    unregister(StudyItem, "mine/table1")


def test_the_papers_items_are_parts() -> None:
    assert set(parts_of("item")) == set(study_items())
    entry = part(StudyItem, "unli/table2")
    assert entry.is_built_in
    assert entry.paper == "UNLI"
    assert entry.summary == f"{entry.title}."


def test_items_stand_paper_by_paper_with_numbers_in_order(plugin: StudyItem) -> None:
    names = list(study_items())
    assert names[0] == "unli/table1"
    assert names.index("ws/table9") < names.index("ws/table10") < names.index("ws/fig1")
    plugins = [name for name in names if not study_items()[name].is_built_in]
    assert names[-len(plugins) :] == plugins, "those of plugins come last"


def test_a_plugin_item_is_listed_and_computed(plugin: StudyItem, run: Command) -> None:
    assert not plugin.is_built_in
    assert "mine/table1" in run("list", "items")[1]
    rows = json.loads(run("study", "--list", "mine", "--json")[1])
    assert [row["title"] for row in rows] == ["A bag of words under two transformations"]
    found = disorder.study("mine/table1", "builtin:bow", "builtin", limit=30)
    same = found.cell("accuracy", transformation="reverse").same
    assert same is not None
    assert (same.model, same.printed, same.value) == ("Bag", "61.20", 0.612)
    assert found.cell("accuracy", transformation="sort").same is None
    assert found.units == {"accuracy": "percent"}


def test_unknown_items_get_the_nearest_names(plugin: StudyItem) -> None:
    with pytest.raises(DisorderError, match="did you mean mine/table1"):
        find_item("mine/tabel1")
    with pytest.raises(DisorderError, match="see disorder study --list"):
        find_item("what")


@pytest.mark.parametrize(
    ("text", "said"),
    [(None, "No such file"), ("[table1", "TOMLDecodeError"), ("[a]\nrows = [{}]", "KeyError")],
)
def test_a_damaged_file_of_numbers_is_one_line(tmp_path: Path, text: str | None, said: str) -> None:
    path = tmp_path / "bad.toml"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(BadData, match=said):
        published_tables(path)


def test_an_item_of_two_files_is_an_error(plugin: StudyItem) -> None:
    with pytest.raises(DisorderError, match="two parts are called 'mine/table1'"):
        register(StudyItem(name="mine/table1", function=Illustration(), published=plugin.published))


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (
            "audit_table",
            "audit_tabel",
            "unknown pipeline 'audit_tabel'; did you mean 'audit_table'",
        ),
        ("by_transformation", "by_transform", "field of AuditTable in mine.toml 'by_transform'"),
        ("$some", "$sum", "unknown name in mine.toml 'sum'"),
        ('data = ["builtin"]', 'dat = ["builtin"]', "mine/table1 needs one pipeline"),
        ('data = ["builtin"]', "data = 3", "table1 is no item"),
    ],
)
def test_a_mistake_in_an_item_is_one_line(
    tmp_path: Path, before: str, after: str, said: str
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(PLUGIN_TABLE.replace(before, after), encoding="utf-8")
    with pytest.raises((BadData, UnknownName), match=said):
        read_items(path)


def test_dropped_and_kept_classes_are_those_of_the_suite() -> None:
    perturbed = find_item("ndsc/table2").pipeline.perturbs
    assert list(perturbed) == list(CLASSES)
