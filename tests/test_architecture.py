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
SHARED = {"disorder"} | {
    f"disorder.{name}" for name in ("cache", "errors", "kept", "refusal", "registry", "rng", "settings", "types", "verb")
}
JOINERS = {
    "train": ("context", "data", "perturb", "predict", "measure"),
    "sanity": ("data", "perturb", "predict", "measure", "report", "train"),
}  # folders that join stages, and which
# folders that join stages, as the files at the top do, and who may use them
SECTIONS = {"explain": ("study",), "sanity": (), "study": ()}
STAGE_FILES = [path for path in FILES if path.relative_to(SOURCE).parts[0] in STAGES]
HEAVY = (
    "torch", "transformers", "datasets", "spacy", "nltk", "pyarrow", "onnxruntime", "sklearn", "scipy", "altair", "fastapi",
    "uvicorn", "duckdb",
)  # fmt: skip
JOINING = ("draw", "make")  # files of human/ that join stages
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


@pytest.mark.parametrize("path", [p for p in FILES if p.parent == SOURCE / "human" and p.stem not in JOINING], ids=name_of)
def test_only_drawing_joins_stages_for_people(path: Path) -> None:
    known = ("disorder.human", "disorder.measure", "disorder.report")
    assert not {name for name in imported(path) if name not in SHARED and not name.startswith(known)}


def test_what_serves_people_cannot_read_the_key() -> None:
    text = (SOURCE / "web" / "annotate.py").read_text(encoding="utf-8")
    names = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
    names |= {alias.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert "read_items" in names
    assert not names & {"read_key", "Key", "KEY", "read_ratings", "score"}
    assert "key.jsonl" not in text


@pytest.mark.parametrize("folder", JOINERS)
def test_a_joining_folder_knows_the_stages_it_says(folder: str) -> None:
    homes = [f"disorder.{name}" for name in (folder, *JOINERS[folder])]
    for path in sorted((SOURCE / folder).rglob("*.py")):
        strangers = {n for n in imported(path) if n not in SHARED and not any(f"{n}.".startswith(f"{h}.") for h in homes)}
        assert not strangers, path


@pytest.mark.parametrize("folder", SECTIONS)
def test_only_the_command_line_knows_a_folder_that_joins_stages(folder: str) -> None:
    home = f"disorder.{folder}"
    allowed = (folder, "cli", *SECTIONS[folder])
    strangers = [name_of(path) for path in FILES if path.relative_to(SOURCE).parts[0] not in allowed
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
