"""Runs that the tests of the laboratory damage."""

from __future__ import annotations

from pathlib import Path

import pytest

from faults.laboratory import small_run


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run; copy it before it is damaged."""
    return small_run(tmp_path_factory.mktemp("finished") / "run")
