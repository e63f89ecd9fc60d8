"""Without `papers/` everything works but `study`, `designs` and `mitigations`: in a copy of the
source the folder is deleted.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import disorder

pytestmark = pytest.mark.laboratory
ROOT = Path(__file__).parents[1]
# inspect_extension is imported by inspect_ai, in whose environment this is tested
EVERY_MODULE = """
import importlib, pkgutil, disorder
names = [m.name for m in pkgutil.walk_packages(disorder.__path__, "disorder.")]
for name in names:
    if name not in ("disorder.__main__", "disorder.inspect_extension"):
        importlib.import_module(name)
print(len(names))
"""
COMMANDS = (
    ["audit", "builtin", "builtin", "--limit", "20", "--q", "3", "--out", "run"],
    ["report", "run"],
    ["list"],
    ["sanity", "builtin", "--limit", "60", "--check", "duplicates", "--out", "sanity"],
    ["train", "plain", "builtin", "--model", "bow", "--limit", "60", "--out", "model"],
    [],
)
TESTS = (
    "tests/test_architecture.py",
    "tests/test_registry.py",
    "tests/test_contract.py",
    "tests/test_python_api.py",
    "tests/cli",
    "tests/verbs/audit/test_oracles.py",
    "tests/verbs/train/test_losses.py",
)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project without the papers."""
    folder = tmp_path_factory.mktemp("copy")
    no_cache = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(disorder.__file__).parent, folder / "src" / "disorder", ignore=no_cache)
    for name in ("tests", "examples", "docs", "scripts"):
        shutil.copytree(ROOT / name, folder / name, ignore=no_cache)
    for path in ROOT.iterdir():
        if path.is_file() and path.suffix in (".toml", ".md", ".yml"):
            shutil.copy(path, folder)
    shutil.rmtree(folder / "src" / "disorder" / "papers")
    shutil.rmtree(folder / "tests" / "papers")
    return folder


def ran(copy: Path, cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A Python program that has the copy, and not the original."""
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(copy / "src")},
    )


def test_every_module_can_be_imported(copy: Path, tmp_path: Path) -> None:
    done = ran(copy, tmp_path, "-c", EVERY_MODULE)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 300


def test_commands_work(copy: Path, tmp_path: Path) -> None:
    for arguments in COMMANDS:
        done = ran(copy, tmp_path, "-m", "disorder", *arguments)
        assert done.returncode == 0, done.stderr
    for verb in ("study", "designs", "mitigations"):
        assert f"\n  {verb} " not in done.stdout
        assert ran(copy, tmp_path, "-m", "disorder", verb).returncode == 2


def test_the_other_tests_pass(copy: Path) -> None:
    done = ran(copy, copy, "-m", "pytest", "-q", "-x", "-n2", *TESTS)
    assert done.returncode == 0, done.stdout[-3000:]
