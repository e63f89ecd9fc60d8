"""Findings are short, and each can be checked: one line per claim, with a page and a command."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from disorder.papers.study import study_items

DOCS = Path(__file__).parents[2] / "docs"
FINDINGS = (DOCS / "findings.md").read_text(encoding="utf-8")
VERDICTS = ("holds", "holds weaker", "does not hold here", "cannot be told", "not run")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in FINDINGS.splitlines()
    if line.startswith("| ") and not line.startswith(("| claim", "| ---"))
]


def test_they_are_read_in_ten_minutes() -> None:
    assert len(FINDINGS.split()) <= 2500
    assert len(ROWS) >= 55


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:60])
def test_a_claim_has_a_verdict_a_page_and_a_command(row: list[str]) -> None:
    _, verdict, found, command = row
    assert verdict in VERDICTS
    links = re.findall(r"\]\(([^)#]+)", found)
    assert links
    assert [link for link in links if not (DOCS / link).is_file()] == []
    verb, name, *_ = command.strip("`").split()
    assert verb in ("study", "sanity", "explain")
    assert verb != "study" or name in study_items()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:60])
def test_the_page_of_a_study_is_of_the_item_that_the_command_names(row: list[str]) -> None:
    name = row[3].strip("`").split()[1].replace("/", "-")
    pages = re.findall(r"\(results/study/([^/)]+)/study\.md\)", row[2])
    own = [page for page in pages if page.startswith(name.split("-", 1)[0])]
    assert own == pages, "a page of another paper"
