"""Wherever a conclusion stands, a reader finds how conclusions are drawn."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from disorder.results.conclusion import NAMES, Caveat, conclusion_rules
from disorder.results.model_card import card_result
from disorder.results.render import render
from disorder.results.run import Run
from disorder.results.terminal import show_result
from disorder.verbs.audit import audit
from disorder.verbs.board import board
from disorder.verbs.gate import gate

LINK = '<a href="#conclusions">How conclusions are drawn</a>'


@pytest.fixture(scope="module")
def run() -> Run:
    limits = {"reads_below": 0.15, "bag_above": 0.85}
    return audit("builtin:bow", "builtin", with_="derange", q=3, limit=40, cache="off", **limits)


def test_in_the_terminal(run: Run) -> None:
    console = Console(width=80, record=True, file=io.StringIO())
    show_result(run.result, console, is_all=True)
    printed = console.export_text()
    assert "How conclusions are drawn" in printed
    assert "docs/conclusions.md" in printed


def test_in_the_report_with_the_limits_of_the_run(run: Run) -> None:
    drawn = render(run.result, "page")
    assert LINK in drawn
    assert 'id="conclusions"' in drawn
    assert "ends at 0.15 or below" in drawn
    assert "begins at 0.85 or above" in drawn


def test_on_a_board(run: Run) -> None:
    drawn = render(board(run).result, "page")
    assert LINK in drawn
    assert 'id="conclusions"' in drawn


def test_on_a_card_with_the_caveats(run: Run) -> None:
    marked = run.model_copy(deep=True)
    assert marked.conclusion is not None
    marked.conclusion.caveats.append(Caveat(kind="label_skew", text="one label is frequent"))
    card = render(card_result(marked), "card")
    assert "How conclusions are drawn:" in card
    assert "- Caveat: one label is frequent" in card


def test_in_the_summary_of_a_gate(run: Run) -> None:
    text = render(gate(run, "original:accuracy < 0.1").result, "markdown")
    assert "How conclusions are drawn: docs/conclusions.md" in text


def test_every_kind_is_explained() -> None:
    rules = ", ".join(conclusion_rules({}).terms)
    assert [name for name in NAMES.values() if name not in rules] == []
