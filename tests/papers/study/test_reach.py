"""The contract of all items: every printed cell is reachable, or stands on a short list with a
reason; and what a pipeline says it reaches is what it fills.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from disorder.papers.study import (
    PAPERS,
    StudyItem,
    check_item,
    check_table,
    read_studies,
    read_study,
    study_items,
)
from disorder.papers.study.pipeline import Reach
from disorder.papers.study.published_tables import PublishedRow
from disorder.papers.study.reaching import NO_PIPELINE, printed_cells, why_out_of_reach
from disorder.results.render import render

Command = Callable[..., tuple[int, str, str]]
ITEMS = [item for item in study_items().values() if item.paper_name in PAPERS]
RESULTS = Path(__file__).parents[3] / "docs" / "results" / "study"
TABLE = (
    "<!-- check -->\n",
    "<!-- /check -->",
)  # what `disorder study --check` wrote stands between


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.name)
def test_every_printed_cell_is_reachable_or_has_a_reason(item: StudyItem) -> None:
    lost = {
        (tuple(row.about.items()), column): reason
        for row, column in printed_cells(item)
        if (reason := why_out_of_reach(item, row, column))
    }
    given = set(item.out_of_reach.values())
    assert {place: reason for place, reason in lost.items() if reason not in given} == {}


def test_the_list_of_what_cannot_be_reached_is_short_and_used() -> None:
    listed = {(item.name, name) for item in ITEMS for name in item.out_of_reach}
    assert len(listed) <= 6, "a long list would be an excuse"
    for item in ITEMS:
        reasons = {why_out_of_reach(item, row, column) for row, column in printed_cells(item)}
        assert set(item.out_of_reach.values()) <= reasons, "a reason that nothing needs"


def test_what_no_pipeline_fills_is_seen() -> None:
    item = study_items()["unli/table2"]
    row = PublishedRow({"model": "DistilBERT", "data": "mnli:matched"}, {"omega_half": "0.5"})
    assert why_out_of_reach(item, row, "omega_half") == NO_PIPELINE
    other = PublishedRow({**row.about, "transformation": "sort"}, {"p_c": "0.5"})
    assert why_out_of_reach(item, other, "p_c") == NO_PIPELINE
    unknown = PublishedRow({"model": "DistilBERT", "data": "qqp:dev"}, {"p_c": "0.5"})
    assert why_out_of_reach(item, unknown, "p_c") == "the item has no data qqp:dev"
    several = PublishedRow({"model": "mean of 9", "data": "mnli:matched"}, {"p_c": "0.5"})
    assert why_out_of_reach(item, several, "p_c") == "nothing makes the row 'mean of 9'"


def test_a_reach_holds_what_it_names_and_nothing_else() -> None:
    reach = Reach(("accuracy",), {"transformation": ("sort",), "label": None})
    assert reach.holds("accuracy", {"transformation": "sort"})
    assert reach.holds("accuracy", {"label": "anything"})
    assert not reach.holds("accuracy", {"transformation": "reverse"})
    assert not reach.holds("accuracy", {"design": "corrupt-test"})
    assert not reach.holds("delta", {"transformation": "sort"})


def test_check_counts_printed_reachable_and_computed_cells(tmp_path: Path) -> None:
    item = study_items()["unli/table7"]
    theirs = {"model": "", "printed": "6655", "value": 6655.0, "is_same": True}
    cell = {"row": {"data": "mnli:matched"}, "column": "used", "theirs": [theirs]}
    (tmp_path / "mine").mkdir()
    record = {"item": item.name, "status": "done", "cells": [cell]}
    (tmp_path / "mine" / "study.json").write_text(json.dumps(record))
    found = check_item(item, read_studies(tmp_path))
    assert (found.n_printed, found.n_reachable) == (14, 14)
    assert (found.n_compared, found.n_beside) == (1, 0)
    assert "| [`unli/table7`](mine/study.md) | 14 | 14 | 1 | 0 |" in check_table([found])
    broken = check_item(study_items()["ooo/table2"], {})
    assert broken.n_printed - broken.n_reachable == 15
    assert "15 × StructBERT's gains are quoted" in check_table([broken])


def test_a_printed_cell_counts_once_however_often_it_is_compared() -> None:
    """Table 3 has rows by character and by word; the paper prints one of them."""
    item = study_items()["unli/table3"]
    theirs = {"model": "BiLSTM", "printed": "0.566", "value": 0.566, "is_same": True}
    cells = [
        {
            "row": {"model": "mine", "data": "ocnli:dev", "transformation": f"derange:words={how}"},
            "column": "accuracy",
            "theirs": [theirs],
        }
        for how in ("simple", "jieba")
    ]
    found = check_item(item, {"mine": {"item": item.name, "cells": cells}})
    assert found.n_compared == 1


def test_numbers_of_another_item_that_stand_beside_are_not_counted() -> None:
    item = study_items()["unli/fig5"]
    table = item.published_table
    row = {"model": "mine", "data": "mnli:matched"}
    theirs = [
        {"model": each.about["model"], "value": table.number("p_c", each.cells["p_c"])}
        for each in table.rows
        if each.about["data"] == "mnli:matched"
    ]
    assert len(theirs) > 2
    cell = {"row": row, "column": "p_c", "theirs": [{**each, "is_same": False} for each in theirs]}
    found = check_item(item, {"mine": {"item": item.name, "cells": [cell]}})
    assert (found.n_printed, found.n_compared, found.n_beside) == (2, 0, 2)


def test_the_table_of_the_docs_is_current(run: Command) -> None:
    code, table, _ = run("study", "--check", "--studies", str(RESULTS))
    assert code == 0
    begin, end = TABLE
    text = (RESULTS / "README.md").read_text(encoding="utf-8")
    written = text.partition(begin)[2].partition(end)[0]
    assert written == table, (
        "run: disorder study --check --studies docs/results/study, and put it into README.md"
    )
    assert table.count("\n") == len(ITEMS) + 3


def test_the_check_is_json_too(run: Command) -> None:
    code, out, err = run("study", "ooo", "--check", "--studies", str(RESULTS), "--json")
    assert (code, err) == (0, "")
    reasons = [reason for check in json.loads(out) for reason in check["reasons"]]
    assert reasons
    assert all(isinstance(reason, str) for reason in reasons)


STORED = sorted(path.parent for path in RESULTS.glob("*/study.json"))


@pytest.mark.parametrize("folder", STORED, ids=lambda folder: folder.name)
def test_a_stored_page_is_what_the_program_writes_now(folder: Path) -> None:
    """After items, printed numbers or tables have changed: python scripts/render_studies.py"""
    path = Path(__file__).parents[3] / "scripts" / "render_studies.py"
    spec = importlib.util.spec_from_file_location("render_studies", path)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    study = read_study(folder)
    assert script.renewed(study) == study
    assert (folder / "study.md").read_text(encoding="utf-8") == render(study.result, "markdown")


@pytest.mark.parametrize("folder", STORED, ids=lambda folder: folder.name)
def test_a_stored_caption_says_how_much_was_used(folder: Path) -> None:
    study = read_study(folder)
    pipeline = study_items()[study.item].pipeline
    here = study.does.partition("; here: ")[2]
    assert "examples" in here
    assert (pipeline.q or 1) <= 1 or "q = " in here or pipeline.trains
    if pipeline.trains and study.request["test_limit"]:
        assert "trained on" in here
        assert "seed" in here
