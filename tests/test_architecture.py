"""Does the code keep to its own picture? Stages do not know each other, files stay small, imports light."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import disorder

SOURCE = Path(disorder.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
STAGES = ("data", "perturb", "predict", "measure", "report")
SHARED = {"disorder", "disorder.types", "disorder.errors", "disorder.registry", "disorder.rng", "disorder.settings"}
JOINING = ("explain",)  # folders that may join stages, as the pipeline files at the top do; no stage may know them
STAGE_FILES = [path for path in FILES if path.relative_to(SOURCE).parts[0] in STAGES]
HEAVY = ("torch", "transformers", "datasets", "spacy", "nltk", "pyarrow", "onnxruntime", "sklearn", "scipy", "altair")
MAX_FILE, MAX_FUNCTION = 400, 60


def name_of(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def imported(path: Path) -> Iterator[str]:
    """Every module of disorder that a file imports, wherever in the file."""
    package = ["disorder", *path.relative_to(SOURCE).parts[:-1]]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "disorder")
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            if module == "disorder":
                yield from (f"disorder.{alias.name}" for alias in node.names)
            elif module.startswith("disorder."):
                yield module


def test_all_stages_are_there() -> None:
    assert {path.relative_to(SOURCE).parts[0] for path in STAGE_FILES} == set(STAGES)


@pytest.mark.parametrize("path", STAGE_FILES, ids=name_of)
def test_a_stage_knows_no_other_stage(path: Path) -> None:
    home = f"disorder.{path.relative_to(SOURCE).parts[0]}"
    strangers = {name for name in imported(path) if name not in SHARED and f"{name}.".startswith(f"{home}.") is False}
    assert not strangers


@pytest.mark.parametrize("folder", JOINING)
def test_only_the_command_line_knows_a_folder_that_joins_stages(folder: str) -> None:
    home = f"disorder.{folder}"
    strangers = [name_of(path) for path in FILES if path.relative_to(SOURCE).parts[0] not in (folder, "cli")
                 and any(f"{name}.".startswith(f"{home}.") for name in imported(path))]  # fmt: skip
    assert set(strangers) <= {"__init__.py"}


def test_the_test_would_see_a_stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "measure" / "x.py"
    path.parent.mkdir()
    path.write_text(
        "def f():\n    from disorder.data import read\n    from disorder import audit\n    from . import omega\n"
    )
    monkeypatch.setitem(globals(), "SOURCE", tmp_path)
    assert list(imported(path)) == ["disorder.data", "disorder.audit", "disorder.measure"]


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_files_and_functions_stay_small(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= MAX_FILE
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    assert [f.name for f in functions if (f.end_lineno or f.lineno) - f.lineno + 1 > MAX_FUNCTION] == []


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_module_says_what_it_is_for(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("module", ["disorder", "disorder.registry", "disorder.types", "disorder.cli"])
def test_importing_is_light(module: str) -> None:
    code = f"import sys, {module}; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_listing_every_part_imports_nothing_heavy() -> None:
    code = (
        "import sys; from disorder.registry import STAGES, parts; [parts(kind) for kind in STAGES];"
        "print([name for name in ('torch', 'transformers', 'datasets', 'spacy', 'nltk') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
