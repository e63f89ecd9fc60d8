"""The board in a real browser: 500 runs, sorted, filtered, by keyboard, on a phone, in the dark."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import disorder
from browser.conftest import assert_count
from disorder.results.run import Run
from disorder.results.run_folder import write_run

N_MODELS = 100
DATASETS = ["builtin", "mnli:matched", "snli:test", "rte", "<b>hostile</b> \u202edata"]
HOSTILE = "<img src=x onerror=document.title='owned'>"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A hundred models on five datasets, made from one real run with other names and scores."""
    folder = tmp_path_factory.mktemp("board")
    one = disorder.audit("builtin", "builtin", with_="derange", q=3, limit=40, out=folder / "one")
    draw = random.Random(0)
    for number in range(N_MODELS):
        for data in DATASETS:
            name = HOSTILE if number == 0 else f"hf:lab/model-{number:03d}"
            run = changed(one, model=name, data=data, kept=draw.uniform(-0.1, 1.0))
            where = folder / "runs" / f"{number}-{DATASETS.index(data)}"
            where.mkdir(parents=True)
            write_run(where, run)
            (where / "report.html").write_text("<!DOCTYPE html><title>report</title>the report")
    disorder.board(folder / "runs", out=folder / "site")
    return folder / "site"


def changed(run: Run, *, model: str, data: str, kept: float) -> Run:
    found = run.model_copy(deep=True, update={"model": model, "data": data})
    for record in found.scores:
        if record.metric == "skill_kept" and record.group == "all":
            record.value, record.low, record.high = kept, kept - 0.05, kept + 0.05
    return found


def values(page: Any, key: str) -> list[float]:
    found = page.eval_on_selector_all(
        "#board tbody tr:not([hidden])", f"rows => rows.map(row => row.dataset.{key})"
    )
    return [float(value) for value in found if value]


def test_five_hundred_runs_sort_and_filter(
    new_page: Callable[..., Any], seen: Any, site: Path, assert_accessible: Callable[[Any], None]
) -> None:
    page = new_page(offline=True)
    page.goto((site / "index.html").as_uri())
    assert_count(page.locator("#board tbody tr"), 500)
    assert page.locator("#count").inner_text() == "500 of 500 runs"
    page.get_by_role("button", name="skill kept").click()
    up = values(page, "kept")
    assert up == sorted(up)
    assert len(up) > 100
    page.get_by_role("button", name="skill kept").click()
    assert values(page, "kept") == sorted(up, reverse=True)
    assert page.locator("th[aria-sort=descending]").inner_text().startswith("skill kept")
    page.locator("select[name=data]").select_option("rte")
    assert page.locator("#count").inner_text() == "100 of 500 runs"
    page.get_by_label("model or data contains").fill("model-042")
    assert page.locator("#count").inner_text() == "1 of 500 runs"
    row = page.locator("#board tbody tr:visible")
    assert "hf:model-042" in row.inner_text()
    assert row.get_by_title("hf:lab/model-042").is_visible()
    page.get_by_role("button", name="Clear").click()
    page.locator("#count", has_text="500 of 500").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert "owned" not in page.title()
    assert [url for url in seen.requests if not url.startswith("file:")] == []
    assert_accessible(page)
    page.get_by_role("link", name="report of hf:lab/model-007 on rte").click()
    page.wait_for_url("**/reports/**")
    assert page.inner_text("body").startswith("disorder audit · hf:lab/model-007 on rte")


def test_the_board_works_by_keyboard_on_a_phone_in_the_dark(
    new_page: Callable[..., Any], site: Path, assert_accessible: Callable[[Any], None]
) -> None:
    page = new_page(width=390, color_scheme="dark", offline=True)
    page.goto((site / "index.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.keyboard.press("Tab")  # how conclusions are drawn
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.name") == "text"
    page.keyboard.type("model-01")
    assert page.locator("#count").inner_text() == "50 of 500 runs"
    assert_accessible(page)


def test_without_scripts_all_runs_are_there(new_page: Callable[..., Any], site: Path) -> None:
    page = new_page(java_script_enabled=False, offline=True)
    page.goto((site / "index.html").as_uri())
    assert_count(page.locator("#board tbody tr"), 500)
    assert not page.locator("#filters").is_visible()
