"""The folder of a verb: one writer, and names that last after a power loss."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from disorder.store import storage
from disorder.store.store import Store


@pytest.mark.skipif(os.name == "nt", reason="folders cannot be synced there")
def test_the_folders_above_a_new_one_are_synced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[Path] = []
    monkeypatch.setattr(storage, "sync_folder", synced.append)
    with Store.open(tmp_path / "a" / "b") as store:
        assert store.folder == tmp_path / "a" / "b"
    assert synced == [tmp_path, tmp_path / "a"]


def test_a_file_system_without_locks_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import errno

    import filelock

    def unsupported(*_: object, **__: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(filelock.FileLock, "acquire", unsupported)
    with Store.open(tmp_path / "out"):
        (tmp_path / "out" / "file").touch()
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["file"]
