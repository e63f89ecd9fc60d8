"""Runs that the tests of the laboratory damage."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import pairs
from faults.laboratory import small_run
from faults.verbs import DATA


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run; copy it before it is damaged. Beside it, a few pairs as data.jsonl."""
    place = tmp_path_factory.mktemp("finished")
    (place / DATA).write_text("\n".join(map(json.dumps, pairs(48))))
    return small_run(place / "run")
