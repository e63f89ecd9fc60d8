"""The page of explanations is readable: every figure and table, wide and narrow, light and dark,
with axe.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import disorder

FIGURES = ["ladder:draws=2", "overlap", "omega_curve", "entropy", "accepted_by_length", "sides"]
BY = [*FIGURES, "leave_one_out:n=4", "neighbours:n=6,budget=30", "heads"]


@pytest.fixture(scope="module")
def seen_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All kinds of figures, tables, and the line of a model that has no attentions."""
    folder = tmp_path_factory.mktemp("explained")
    disorder.explain("builtin", "builtin", by=BY, limit=40, q=5, out=folder)
    return folder


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_of_explanations_opens_from_disk_and_can_be_read(
    new_page: Callable[..., Any],
    seen: Any,
    seen_folder: Path,
    assert_accessible: Callable[[Any], None],
    scheme: str,
    width: int,
) -> None:
    page = new_page(width=width, offline=True, color_scheme=scheme)
    page.goto((seen_folder / "explain.html").as_uri())
    assert page.locator("figure svg").count() >= 9
    assert "builtin shows no attentions" in page.locator("body").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), (
        "the page itself scrolls sideways"
    )
    closed = page.locator("details:not([open]) > summary")
    while closed.count():  # the first is visible: those inside it open after it
        closed.first.click()
    assert [url for url in seen.requests if not url.startswith("file:")] == []
    assert_accessible(page)
