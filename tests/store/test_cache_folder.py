"""The cache lies where the user says, or where the system keeps caches."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from disorder.store.storage import default_cache_folder


def test_the_users_word_wins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DISORDER_CACHE", str(tmp_path / "mine"))
    assert default_cache_folder() == tmp_path / "mine"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems keep caches elsewhere")
@pytest.mark.parametrize("given", ["", None], ids=["empty", "unset"])
def test_else_it_is_the_systems_cache_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, given: str | None
) -> None:
    monkeypatch.delenv("DISORDER_CACHE", raising=False)
    if given is not None:
        monkeypatch.setenv("DISORDER_CACHE", given)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_cache_folder() == tmp_path / "disorder"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_cache_folder() == tmp_path / ".cache" / "disorder"
