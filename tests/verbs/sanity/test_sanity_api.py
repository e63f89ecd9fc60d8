"""`disorder.sanity` from Python: keywords, the result object, and checks of plugins."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import disorder
from disorder.errors import DisorderError, NothingToMeasure, UnknownName
from disorder.registry import CheckPart, check, parts, unregister
from disorder.types import Dataset, Example, Task
from disorder.verbs.sanity import CheckInput, CheckResult, Sanity, Verdict, VerdictRule
from disorder.verbs.sanity.checking import SanityRequest, run_check

ROWS = [
    {
        "id": str(i),
        "text_a": f"row {i} <b>bold</b>",
        "text_b": f"other {i % 7}",
        "label": str(i % 2),
    }
    for i in range(30)
]


@pytest.fixture(scope="module")
def found() -> Sanity:
    return disorder.sanity(ROWS, check=["duplicates", "words", "order"])


def test_the_signature_names_every_option() -> None:
    parameters = inspect.signature(disorder.sanity).parameters
    assert {"train", "check", "columns", "task", "data_dir", "group_by", "out"} <= set(parameters)
    assert all(each.kind is not each.VAR_KEYWORD for each in parameters.values())


def test_built_in_checks_come_from_the_registry_in_the_order_of_the_page() -> None:
    names = [entry.name for entry in SanityRequest("builtin").parts if entry.is_built_in]
    assert " ".join(names) == (
        "labels order usable_information bag_identical texts swap classes baselines overlap words "
        "duplicates"
    )


def test_a_misspelt_keyword_or_check_says_what_was_meant() -> None:
    misspelt: Any = {"checks": "order"}
    with pytest.raises(UnknownName, match="did you mean 'check'"):
        disorder.sanity(ROWS, **misspelt)
    with pytest.raises(UnknownName, match="did you mean 'order'"):
        disorder.sanity(ROWS, check="odrer")


def test_one_string_is_a_list_of_one() -> None:
    one = disorder.sanity(ROWS, check="duplicates", group_by="label", columns="text_a=text_a")
    assert [section.name for section in one.sections] == ["duplicates"]


def test_data_may_be_a_path(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in ROWS), encoding="utf-8")
    result = disorder.sanity(path, check="duplicates", seed=3, data_dir=tmp_path)
    assert result.data == str(path)
    assert result.command.startswith(f"disorder sanity {path} --seed 3")


def test_out_and_save_write_what_the_command_writes(tmp_path: Path, found: Sanity) -> None:
    disorder.sanity(ROWS, check=["duplicates", "words", "order"], out=tmp_path / "out")
    assert found.save(str(tmp_path / "saved")) == tmp_path / "saved"
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names >= {"report.html", "result.json", "card.md", "duplicates.csv"}
    assert names == {path.name for path in (tmp_path / "saved").iterdir()}
    card = (tmp_path / "out" / "card.md").read_text(encoding="utf-8")
    assert "disorder.sanity(data, check=['duplicates', 'words', 'order'])" in card


def test_a_mistake_leaves_no_folder(tmp_path: Path) -> None:
    with pytest.raises(DisorderError):
        disorder.sanity("nowhere.jsonl", out=tmp_path / "a" / "b")
    assert not (tmp_path / "a").exists()


def test_the_repr_has_one_line_per_verdict(found: Sanity) -> None:
    first, *lines = repr(found).splitlines()
    assert first.startswith("Sanity of data: 30 rows")
    assert len(lines) == len(found.verdicts) + 1
    assert any("duplicates" in line and "none found" in line for line in lines)
    assert any("order" in line and "30 rows are too few" in line for line in lines)


def test_a_verdict_that_is_not_there_says_which_are(found: Sanity) -> None:
    assert found.verdict("duplicates").answer == "none found"
    with pytest.raises(UnknownName, match="did you mean 'duplicates'"):
        found.verdict("duplicate")
    with pytest.raises(UnknownName, match="known: all"):
        found.verdict("duplicates", "kind=a")


class Tags(HTMLParser):
    """The tags of a page, and the addresses that it loads from."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.addresses: list[str | None] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.addresses += [value for name, value in attrs if name in ("src", "href")]


def test_a_notebook_gets_the_content_of_the_page(found: Sanity) -> None:
    html = found._repr_html_()
    tags = Tags()
    tags.feed(html)
    assert {"table", "h2", "style"} <= tags.names
    assert not tags.names & {"html", "body", "script"}
    assert tags.addresses == []
    assert "30 rows are too few" in html
    assert "<b>bold</b>" not in html


def test_records_are_the_scores_of_the_results_file() -> None:
    pytest.importorskip("sklearn", reason="needs scikit-learn")
    rows = [row | {"id": f"{k} {row['id']}"} for k in range(2) for row in ROWS]
    records = disorder.sanity(rows, check="texts", folds=2).records
    assert {"check", "transformation", "design", "group", "metric"} <= set(records[0])
    for record in records:
        assert record["low"] <= record["value"] <= record["high"]


@pytest.fixture
def shout() -> Iterator[CheckPart]:
    """A check as a plugin would declare it."""

    @check(asks="Does the data shout?", trains=False, position=11)
    def shout(given: CheckInput) -> CheckResult:
        """Count rows in capitals."""
        n = sum(example.text_a.isupper() for example in given.examples)
        if not n:
            raise NothingToMeasure("no row is in capitals")
        return CheckResult([Verdict("shouting", "found", f"{n} rows are in capitals")])

    yield parts(CheckPart)["shout"]
    unregister(CheckPart, "shout")


def test_a_plugin_can_add_a_check(shout: CheckPart) -> None:
    assert [entry.name for entry in SanityRequest("builtin").parts][1:3] == ["order", "shout"]
    loud = disorder.sanity([row | {"text_a": "HELLO"} for row in ROWS], check="shout")
    assert loud.verdict("shouting").because == "30 rows are in capitals"
    found = disorder.sanity(ROWS, check=["shout", "duplicates"])
    assert found.sections[0].reason == "no row is in capitals"
    with pytest.raises(
        NothingToMeasure, match=r"nothing could be checked \(shout: no row is in cap"
    ):
        disorder.sanity(ROWS, check="shout")


def test_a_check_that_needs_a_model_says_why_there_is_none() -> None:
    task = Task("toy", ("no", "yes"), "b")
    data = Dataset("d", task, [Example.of("1", "a b", "c d", "no")])
    given = CheckInput(data, None, VerdictRule(), "1 rows are too few")
    assert run_check(parts(CheckPart)["order"], given).reason == "1 rows are too few"
    with pytest.raises(NothingToMeasure, match="too few"):
        given.trials  # noqa: B018
