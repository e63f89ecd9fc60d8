"""Cards: huggingface_hub's own parsers read what we write, whatever names are in it."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

import disorder
from conftest import Command
from disorder.results.markup import markdown_code, markdown_text
from disorder.results.model_card import HubDataset, card_result, eval_results, hub_dataset
from disorder.results.render import render
from disorder.results.run import Run
from disorder.results.run_tables import command as command_of

HOSTILE = "m: #1 \"x\" 'y' | [z](http://e) \u202e\x1b <b>\n---\n- {a: b}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("card") / "run"
    disorder.audit("builtin", "builtin", with_=["derange"], q=5, limit=60, out=folder)
    return folder


@pytest.fixture
def run(folder: Path) -> Run:
    return disorder.read_run(folder)


def model_card(run: Run) -> str:
    return render(card_result(run), "card")


def parsed(text: str) -> Any:
    repocard = pytest.importorskip("huggingface_hub", reason="needs huggingface_hub")
    return repocard.ModelCard(text)


def test_the_hub_reads_every_score(run: Run) -> None:
    card = parsed(model_card(run))
    assert card.data.model_name == "builtin"
    read = {(r.metric_type, r.metric_args["transformation"]): r for r in card.data.eval_results}
    for key in (("accuracy", "original"), ("agreement", "derange"), ("p_c", "derange")):
        record = run[key[1], key[0]]
        assert read[key].metric_value == record.value
        assert read[key].metric_args["low"] == record.low
        assert read[key].metric_args["n"] == record.n
    assert card.text.strip().startswith("## Word order")
    assert f"{run['derange', 'agreement'].value:.3f}" in card.text


def test_hostile_names_break_neither_yaml_nor_markdown(run: Run) -> None:
    hostile = run.model_copy(update={"model": HOSTILE, "data": HOSTILE, "verdict": HOSTILE})
    card = parsed(model_card(hostile))
    assert card.data.model_name == HOSTILE
    assert {result.dataset_name for result in card.data.eval_results} == {HOSTILE}
    html = MarkdownIt("commonmark").enable("table").render(card.text)
    assert "<b>" not in html
    assert "<a " not in html


def test_results_of_hub_data_are_read_by_the_hub(run: Run) -> None:
    hub = pytest.importorskip("huggingface_hub", reason="needs huggingface_hub")
    yaml = pytest.importorskip("yaml", reason="needs huggingface_hub")
    on_hub = run.model_copy(update={"data": "mnli:matched"})
    text = eval_results(on_hub)
    assert text is not None
    entries = hub.parse_eval_result_entries(yaml.safe_load(text))
    assert len(entries) > 3
    assert {entry.dataset_id for entry in entries} == {"nyu-mll/glue"}
    by_task = {entry.task_id: entry for entry in entries}
    entry = by_task["mnli/validation_matched/derange/agreement"]
    assert entry.value == run["derange", "agreement"].value
    assert "n = 60" in entry.notes


@pytest.mark.parametrize(
    ("data", "found"),
    [
        ("mnli:matched", HubDataset("nyu-mll/glue", "mnli", "validation_matched")),
        ("snli:test", HubDataset("stanfordnlp/snli", "", "test")),
        ("hf:owner/name/config:train", HubDataset("owner/name", "config", "train")),
        ("hf:owner/name:test", HubDataset("owner/name", "", "test")),
        ("hf:./folder/data:test", None),
        ("hf:/home/a/b:test", None),
        ("builtin", None),
        ("data.jsonl", None),
    ],
)
def test_which_data_is_on_the_hub(data: str, found: HubDataset | None) -> None:
    assert hub_dataset(data) == found


def test_the_command_prints_the_card(folder: Path, run: Run, command: Command) -> None:
    code, out, err = command("report", folder, "--card")
    assert (code, out) == (0, model_card(run))
    assert "No .eval_results" in err
    assert not (folder / ".eval_results").exists()


@pytest.mark.parametrize("option", ["--latex", "--methods"])
def test_a_card_is_printed_alone(folder: Path, command: Command, option: str) -> None:
    exit_code, out, err = command("report", folder, "--card", option)
    assert (exit_code, out) == (2, "")
    assert err.startswith("disorder: --card prints a file of its own")
    assert err.count("\n") == 1


def test_a_card_is_escaped_no_more_than_it_must_be(run: Run) -> None:
    text = model_card(run)
    assert "\\" not in text
    assert "&#" not in text
    assert f"`{command_of(run)}`" in text


BRACKETS = ["[a](b)", "[a]", "[x] done", "[^1]: note", "a [b][c]", "![a](b)", "[a]:b"]


@given(st.one_of(st.sampled_from(BRACKETS), st.text("[]()!:^x`*|<&\\ \n", max_size=30)))
def test_any_text_is_text_on_a_card(text: str) -> None:
    cells = f"| {markdown_text(text)} | {markdown_code(text, in_table=True)} |"
    page = f"- {markdown_text(text)}: {markdown_text(text)}\n\n| a | b |\n| --- | --- |\n{cells}\n"
    html = MarkdownIt("commonmark").enable("table").render(page)
    for tag in ("<a", "<img", "<em>", "<strong>"):
        assert tag not in html
    assert html.count("<td>") == 2
    assert html.count("<code>") == html.count("</code>") == 1
    assert html.count("<li>") == 1


@pytest.mark.parametrize("in_table", [False, True])
@given(text=st.text("ab|\\`*_<&#[]@. ", max_size=12))
@example(text=" \u00a0 ")
@example(text="a\\|b")
@example(text=" a ")
@example(text=" `a| ")
@example(text="www.a.b|*c*")
def test_code_is_shown_as_it_is(text: str, *, in_table: bool) -> None:
    cell = markdown_code(text, in_table=in_table)
    page = f"| a |\n| --- |\n| {cell} |\n" if in_table else f"- {cell} is it\n"
    html = MarkdownIt("commonmark").enable("table").render(page)
    [shown] = re.findall("<code>(.*?)</code>", html)
    assert unescape(shown) == (text or " ")
    assert not in_table or "|" not in cell  # renderers differ in what escapes one


def test_code_is_one_line() -> None:
    assert markdown_code("a\n\nb\r\nc") == "`a b␍ c`"


def test_the_card_of_a_dataset_is_read_by_the_hub(tmp_path: Path) -> None:
    hub = pytest.importorskip("huggingface_hub", reason="needs huggingface_hub")
    pytest.importorskip("sklearn", reason="needs scikit-learn")
    disorder.sanity("builtin", check=["duplicates"], limit=200, out=tmp_path / "sanity")
    card = hub.DatasetCard((tmp_path / "sanity" / "card.md").read_text(encoding="utf-8"))
    assert card.data.to_dict()["disorder_sanity"]["verdicts"]
    assert card.text.strip().startswith("## Sanity check")
