"""The picture in CONTRIBUTING holds: imports go down, names are unique, imports stay light."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import disorder

SOURCE = Path(disorder.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
LAYERS = (
    {"papers"},
    {"cli", "web", "testing", "pytest_plugin", "inspect_extension", "__main__"},
    {"verbs"},
    {"data", "tasks", "transformations", "models", "metrics"},
    {"requests", "store", "results", "engines"},
    {"types", "errors", "registry", "specs", "randomness", "languages", "safe_io"},
)  # the papers' own, which nothing imports → surfaces → verbs → parts → middle → base
# the only steps sideways, apart from verb to verb: results are written through the store, which
# knows none of them
BESIDE = {
    "data": {"tasks"},
    "__main__": {"cli"},
    "cli": {"web"},
    "results": {"requests", "store"},
}
# models that need strings have them made from positions
RENDERING = "disorder.transformations.rendering."
SHARED_BY_VERBS = {
    "model_loading",
    "outcomes",
    "prompting",
    "selected_data",
}
HEAVY = (
    "torch",
    "transformers",
    "datasets",
    "spacy",
    "nltk",
    "pyarrow",
    "onnxruntime",
    "sklearn",
    "scipy",
    "fastapi",
    "uvicorn",
    "duckdb",
)


def room(path: Path) -> str:
    """The folder or file at the top that a file belongs to."""
    return path.relative_to(SOURCE).with_suffix("").parts[0]


def imported(path: Path, source: Path = SOURCE) -> Iterator[str]:
    """Every module of disorder that a file imports, wherever in the file."""
    package = ["disorder", *path.relative_to(source).parts[:-1]]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (
                alias.name for alias in node.names if alias.name.split(".")[0] == "disorder"
            )
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            if module == "disorder" or module.startswith("disorder."):
                yield from (f"{module}.{alias.name}" for alias in node.names)


def level(name: str) -> int:
    return next(i for i, layer in enumerate(LAYERS) if name in layer)


def steps_up(path: Path, source: Path = SOURCE) -> list[str]:
    """The imports of a file that the picture does not allow."""
    parts = path.relative_to(source).with_suffix("").parts
    home = parts[0]
    wrong = []
    for name in imported(path, source):
        target = name.split(".")[1]
        if target.startswith("__") or target == home != "verbs":
            continue
        if name.startswith(RENDERING) and home == "models":
            continue
        if target == "verbs" and home in ("verbs", "papers"):
            other = name.split(".")[2]
            if parts[1] != other and other not in SHARED_BY_VERBS and is_inside(name):
                wrong.append(name)  # past another verb's public names
        elif level(target) < level(home) or is_sideways(home, target):
            wrong.append(name)
    return wrong


def is_inside(name: str) -> bool:
    """Whether an import reaches past the public names of a verb, into its modules."""
    *folders, last = name.split(".")[1:]
    home = SOURCE.joinpath(*folders)
    if len(folders) > 2 or not (home / "__init__.py").exists():
        return len(folders) > 2
    is_public = f'"{last}"' in (home / "__init__.py").read_text(encoding="utf-8")
    return not is_public and ((home / f"{last}.py").exists() or (home / last).is_dir())


def is_sideways(home: str, target: str) -> bool:
    """Whether an import stays in its layer, where the picture has no such step."""
    is_base = level(home) == len(LAYERS) - 1
    return level(target) == level(home) and not is_base and target not in BESIDE.get(home, ())


def test_every_room_is_in_the_picture() -> None:
    rooms = {room(path) for path in FILES} - {"__init__"}
    assert rooms | {"papers"} == set().union(*LAYERS)


def test_imports_only_go_down() -> None:
    files = [path for path in FILES if path != SOURCE / "__init__.py"]
    wrong = {path.relative_to(SOURCE).as_posix(): steps_up(path) for path in files}
    assert {name: found for name, found in wrong.items() if found} == {}


def test_no_verb_draws_what_a_person_sees() -> None:
    drawing = ("rich", "jinja2")
    wrong = [
        f"{path.relative_to(SOURCE)}: {name}"
        for path in FILES
        if room(path) == "verbs"
        for name in drawing
        if re.search(rf"^\s*(?:from|import) {name}\b", path.read_text(encoding="utf-8"), re.M)
    ]
    assert wrong == [], "results/ writes tables and pages"


def test_the_test_sees_an_import_that_goes_up(tmp_path: Path) -> None:
    path = tmp_path / "metrics" / "x.py"
    path.parent.mkdir()
    path.write_text(
        "def f():\n    from disorder.data import read_data\n"
        "    from disorder.verbs.audit import audit\n"
        "    from . import omega\n    from disorder.types import Score\n"
    )
    assert steps_up(path, tmp_path) == ["disorder.data.read_data", "disorder.verbs.audit.audit"]
    path.write_text("from disorder.papers.study import study\n")
    assert steps_up(path, tmp_path) == ["disorder.papers.study.study"]
    path = tmp_path / "verbs" / "plan" / "y.py"
    path.parent.mkdir(parents=True)
    path.write_text(
        "from disorder.verbs.audit.block import Block\nfrom disorder.verbs.audit import audit\n"
    )
    assert steps_up(path, tmp_path) == ["disorder.verbs.audit.block.Block"]


def is_private(word: str) -> bool:
    return word.startswith("_") and not word.startswith("__")


def uses_private(path: Path, name: str) -> bool:
    """Whether a file imports a private file of another folder, or a private name of any file."""
    words = name.split(".")[1:]
    folder = list(path.relative_to(SOURCE).parts[:-1])
    for i, word in enumerate(words):
        is_file = SOURCE.joinpath(*words[: i + 1]).with_suffix(".py").exists()
        if is_private(word) and (words[:i] != folder or not is_file):
            return True
    return False


def private_attributes(path: Path) -> Iterator[str]:
    """Private names that a file takes from a module it imported: `options._name`."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    modules = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("disorder")
        for alias in node.names
    }
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=module), attr=name) if is_private(name):
                if module in modules:
                    yield f"{module}.{name}"


def test_private_names_stay_in_their_file_and_private_files_in_their_folder() -> None:
    wrong = [
        f"{path.relative_to(SOURCE)}: {name}"
        for path in FILES
        for name in [
            *(name for name in imported(path) if uses_private(path, name)),
            *private_attributes(path),
        ]
    ]
    assert wrong == []


def test_a_class_name_is_used_once() -> None:
    names = Counter(
        node.name
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    )
    assert {name: n for name, n in names.items() if n > 1} == {}


def test_what_serves_people_cannot_read_the_key() -> None:
    text = (SOURCE / "web" / "annotation_app.py").read_text(encoding="utf-8")
    tree = ast.parse(text)
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names |= {
        a.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for a in node.names
    }
    assert "read_items" in names
    assert not names & {"read_key", "ItemKey", "KEY", "read_ratings", "score"}
    assert "key.jsonl" not in text


@pytest.mark.parametrize(
    "module", ["disorder", "disorder.registry", "disorder.types", "disorder.cli"]
)
def test_importing_is_light(module: str) -> None:
    code = f"import sys, {module}; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_listing_every_part_imports_nothing_heavy() -> None:
    code = (
        "import sys; from disorder.registry import KINDS, parts_of;"
        "[parts_of(kind) for kind in KINDS];"
        "heavy = ('torch', 'transformers', 'datasets', 'spacy', 'nltk');"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_no_comprehension_goes_over_the_names_of_its_function() -> None:
    """From Python 3.12 on a comprehension has its own names among them, while it goes over them."""
    wrong = [
        path
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp)
        and any(isinstance(name, ast.Name) and name.id == "locals" for name in ast.walk(node))
    ]
    assert not wrong
