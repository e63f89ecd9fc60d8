"""The report of a run in a real browser, opened from disk without a network."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import disorder


def test_the_report_opens_from_disk_without_network(
    new_page: Callable[..., Any],
    seen: Any,
    tmp_path: Path,
    assert_accessible: Callable[[Any], None],
) -> None:
    disorder.audit("builtin", "builtin", limit=60, q=5, out=tmp_path / "run")
    page = new_page(offline=True)
    page.goto((tmp_path / "run" / "report.html").as_uri())
    assert page.locator(".verdict").inner_text()
    assert page.locator("svg").count() > 0
    assert [url for url in seen.requests if not url.startswith("file:")] == []
    assert_accessible(page)
