"""Progress where there is no terminal: one line at a time."""

from __future__ import annotations

import pytest

from disorder.cli.progress import Bar
from disorder.results.progress import OVERALL


def test_a_stage_that_is_done_has_no_time_left(capsys: pytest.CaptureFixture[str]) -> None:
    with Bar() as bar:
        bar(OVERALL, 0, 2, "about 7 min left, next: derange")
        bar("original", 20, 20, "")
    assert capsys.readouterr().err.strip() == "original: 20 of 20"
