"""Runs that the tests of the laboratory damage."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import pairs
from faults.laboratory import small_run
from faults.verbs import write_beside


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run; copy it before it is damaged. Beside it, what commands read."""
    place = tmp_path_factory.mktemp("finished")
    write_beside(place, pairs(48))
    return small_run(place / "run")
