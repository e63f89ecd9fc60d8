"""Can a run lie on shared storage? The same files as on disk, resumed from there, and one line
where it cannot be reached.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from conftest import pairs
from disorder.cli import main
from disorder.errors import DisorderError
from disorder.results.progress import OVERALL
from disorder.results.run_folder import read_run
from disorder.store.storage import place, write_atomically
from disorder.verbs.audit.pipeline import audit, resume

upath = pytest.importorskip("upath", reason="needs universal_pathlib")
SETTINGS = {"q": 5, "with_": ["derange", "reverse"], "fidelity": "paper"}


@pytest.fixture
def storage() -> Iterator[str]:
    address = "memory://disorder-test/run"
    yield address
    found = upath.UPath("memory://disorder-test")
    if found.exists():
        found.fs.rm(found.path, recursive=True)


def files_of(folder: Path) -> dict[str, bytes]:
    """Everything but run.json and the page, which hold times."""
    found = [*(folder / "samples").iterdir(), folder / "examples.parquet"]
    return {path.name: path.read_bytes() for path in found}


def test_a_run_on_shared_storage_has_the_files_of_one_on_disk(
    jsonl: Callable[..., Path], tmp_path: Path, storage: str
) -> None:
    data = str(jsonl(pairs(30)))
    here, there = (
        audit("uniform", data, out=out, **SETTINGS) for out in (tmp_path / "run", storage)
    )
    assert there.scores == here.scores
    assert files_of(place(storage)) == files_of(tmp_path / "run")
    assert (place(storage) / "report.html").read_bytes().startswith(b"<!")


def test_a_stopped_run_goes_on_from_shared_storage(
    jsonl: Callable[..., Path], storage: str
) -> None:
    data = str(jsonl(pairs(30)))
    n_heard = 0

    def stop(stage: str, *_: object) -> None:
        nonlocal n_heard
        n_heard += stage != OVERALL
        if n_heard == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        audit("uniform", data, out=storage, progress=stop, **SETTINGS)
    assert read_run(place(storage)).status == "failed"
    run = resume(storage)
    assert run.profile["resumed"] == 30 + 30 * 5  # the original texts and the first transformation
    assert run.scores == audit("uniform", data, **SETTINGS).scores
    with pytest.raises(DisorderError, match="holds a run already"):
        audit("uniform", data, out=storage, **SETTINGS)


def test_a_part_damaged_on_shared_storage_is_predicted_again(
    jsonl: Callable[..., Path], storage: str
) -> None:
    whole = audit("uniform", str(jsonl(pairs(30))), out=storage, **SETTINGS)
    folder = place(storage)
    part = folder / "samples" / "01-derange-00000.parquet"
    part.write_bytes(part.read_bytes()[:100])
    state = json.loads((folder / "result.json").read_bytes())
    (folder / "result.json").write_bytes(
        json.dumps({**state, "status": "started", "scores": []}).encode()
    )
    again = resume(storage)
    assert again.scores == whole.scores
    assert any("damaged" in note for note in again.notes)


def test_the_command_line_takes_addresses(
    jsonl: Callable[..., Path], tmp_path: Path, storage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    data = str(jsonl(pairs(12)))
    for out in (storage, f"file://{tmp_path}/run"):
        for words in (
            ["audit", "uniform", data, "--q", "3", "--with", "derange", "--out", out],
            ["report", out],
        ):
            with pytest.raises(SystemExit) as ended:
                main(words)
            assert ended.value.code == 0
        assert out in capsys.readouterr().out.replace("\n", "")
    assert (tmp_path / "run" / "report.html").exists()


def test_a_storage_that_is_not_there_is_one_line() -> None:
    with pytest.raises(DisorderError, match=r"^nosuch://bucket/run cannot be reached: "):
        place("nosuch://bucket/run")
    with pytest.raises(DisorderError, match="is no run folder"):
        read_run(place("memory://disorder-test/none"))


def test_paths_on_disk_stay_paths(tmp_path: Path) -> None:
    assert place("runs/a") == Path("runs/a")
    assert place(tmp_path) is tmp_path or place(tmp_path) == tmp_path
    assert place("file:///tmp/run") == Path("/tmp/run")


def test_a_failed_write_leaves_the_old_file_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.json"
    write_atomically(path, b"old")

    def full(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(DisorderError, match=r"No space left on device.*what is finished is kept"):
        write_atomically(path, b"new")
    assert [file.name for file in tmp_path.iterdir()] == ["run.json"]
    assert path.read_bytes() == b"old"
