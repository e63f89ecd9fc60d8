"""All runs are found, damaged ones are listed, and nothing outside the folder is read."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from asgi_request import request

import disorder
from conftest import pairs
from disorder.errors import DisorderError
from disorder.web.access_control import AccessControl
from disorder.web.run_library import DamagedRun, FoundRun, RunLibrary
from disorder.web.viewer_app import viewer_app


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one finished run."""
    folder = tmp_path_factory.mktemp("library")
    disorder.audit("uniform", pairs(12), q=4, with_=["derange"], cache="off", out=folder / "good")
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "runs"))


def test_runs_are_found_at_any_depth_and_ids_stay(folder: Path) -> None:
    shutil.copytree(folder / "good", folder / "deep" / "er" / "copy")
    first = RunLibrary(folder).all()
    second = RunLibrary(folder).all()
    assert [found.name for found in first] == ["deep/er/copy", "good"]
    assert [found.id for found in first] == [found.id for found in second]
    assert len({found.id for found in first}) == 2
    assert [found.name for found in RunLibrary(folder / "good").all()] == ["good"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "damaged"),
        (b"{", "damaged"),
        (b"[]", "damaged"),
        (b'"run"', "damaged"),
        (b"{}", "schema version None"),
        (b'{"schema_version": 99}', "schema version 99"),
        (b'{"schema_version": 1}', "damaged"),
        (b"\xff\xfe\x00", "damaged"),
    ],
)
def test_a_damaged_run_is_listed_with_the_reason(folder: Path, content: bytes, reason: str) -> None:
    (folder / "bad").mkdir()
    (folder / "bad" / "run.json").write_bytes(content)
    bad, good = RunLibrary(folder).all()
    assert isinstance(good, FoundRun)
    assert isinstance(bad, DamagedRun)
    assert reason in bad.problem
    app = AccessControl(viewer_app(folder))
    assert reason in request(app, "/").text
    assert reason in request(app, f"/run/{bad.id}").text
    assert request(app, f"/run/{bad.id}/progress").status == 404


def test_links_that_leave_the_folder_are_not_followed(
    folder: Path, made: Path, tmp_path: Path
) -> None:
    shutil.copytree(made / "good", tmp_path / "secret")
    (folder / "linked").symlink_to(tmp_path / "secret")
    (folder / "half").mkdir()
    (folder / "half" / "run.json").symlink_to(tmp_path / "secret" / "run.json")
    library = RunLibrary(folder)
    assert [(entry.name, isinstance(entry, DamagedRun)) for entry in library.all()] == [
        ("good", False),
        ("half", True),
    ]
    good = library.all()[0]
    assert isinstance(good, FoundRun)
    n_parts = len(library.parts(good))
    (folder / "good" / "samples" / "99-x-00000.parquet").symlink_to(
        next((tmp_path / "secret" / "samples").glob("0*.parquet"))
    )
    assert len(library.parts(good)) == n_parts
    assert library.has_links(good)
    shutil.rmtree(folder / "good" / "samples")
    (folder / "good" / "samples").symlink_to(tmp_path / "secret" / "samples")
    (folder / "good" / "examples.parquet").unlink()
    (folder / "good" / "examples.parquet").symlink_to(tmp_path / "secret" / "examples.parquet")
    assert library.parts(good) == []
    assert library.examples(good) is None
    page = request(AccessControl(viewer_app(folder)), f"/run/{good.id}")
    assert page.status == 200
    assert "e0000" not in page.text


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_named_like_a_run_does_not_hang_the_list(folder: Path) -> None:
    (folder / "pipe").mkdir()
    os.mkfifo(folder / "pipe" / "run.json")
    assert [isinstance(entry, DamagedRun) for entry in RunLibrary(folder).all()] == [False, True]


def test_a_run_seen_again_is_read_again_only_when_it_changed(folder: Path) -> None:
    library = RunLibrary(folder)
    first = library.all()[0]
    assert library.find(first.id) is first
    path = folder / "good" / "result.json"
    path.write_text(path.read_text().replace('"status": "done"', '"status": "failed"'))
    again = library.find(first.id)
    assert isinstance(again, FoundRun)
    assert again.run.status == "failed"


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DisorderError, match="is not a folder; name one that has run folders in it"):
        RunLibrary(tmp_path / "nothing")


def test_an_empty_folder_says_how_to_make_a_run(tmp_path: Path) -> None:
    assert "disorder audit --out" in request(AccessControl(viewer_app(tmp_path)), "/").text
