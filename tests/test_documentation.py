"""What the pages say is true: doctests run, links lead somewhere, commands and options exist."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import disorder
from conftest import Command
from disorder.registry import MetricPart, part, unregister
from disorder.testing.contract import part_checks

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
MODULES = [
    module.name
    for module in pkgutil.walk_packages(disorder.__path__, "disorder.")
    if module.name != "disorder.__main__"
]
COMMAND = re.compile(r"^\s*(?:\$ )?disorder (human \w+|\w+)(.*)$", flags=re.MULTILINE)


@pytest.mark.parametrize("room", sorted({name.split(".")[1] for name in MODULES}))
def test_doctests(room: str) -> None:
    for name in MODULES:
        if name.split(".")[1] == room:
            try:
                module = importlib.import_module(name)
            except ModuleNotFoundError as error:  # of an extra that is not installed
                if (error.name or "disorder").startswith("disorder"):
                    raise
                continue
            assert (module.__doc__ or "").strip(), f"{name} does not say what it is"
            assert doctest.testmod(module).failed == 0, name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        assert target.startswith("http") or (page.parent / target).exists(), target


def test_commands_and_options_exist(command: Command) -> None:
    shown: dict[str, str] = {}
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for verb, rest in COMMAND.findall(text):
            if verb not in shown:
                code, shown[verb], _ = command(*verb.split(), "--help-all")
                assert code == 0, f"{page.name}: disorder {verb}"
            for option in re.findall(r"(?<=\s)--[a-z-]+", rest.split("#")[0]):
                assert option in shown[verb], f"{page.name}: disorder {verb} {option}"
    assert len(shown) > 10


def test_the_example_script_runs() -> None:
    pytest.importorskip("sklearn", reason="needs scikit-learn")
    script = ROOT / "examples" / "audit_your_classifier.py"
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Your model hardly uses word order." in done.stdout


def test_the_python_section_of_the_readme_runs(tmp_path: Path) -> None:
    pytest.importorskip("sklearn", reason="needs scikit-learn")
    pytest.importorskip("pandas", reason="needs pandas")
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    section = page.split("## From Python")[1].split("\n## ")[0]
    audited, used = re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL)
    fitted = (
        "from sklearn.feature_extraction.text import CountVectorizer\n"
        "from sklearn.linear_model import LogisticRegression\n"
        "from sklearn.pipeline import make_pipeline\n"
        "texts = [f'{who} {did} film number {n} here.' for n in range(10)"
        " for who in ('we', 'they') for did in ('loved this', 'hated this')]\n"
        "labels = [int('loved' in text) for text in texts]\n"
        "classifier = make_pipeline(CountVectorizer(), LogisticRegression()).fit(texts, labels)\n"
    )
    another = "run_a = run\nrun_b = disorder.audit(classifier, (texts, labels), with_='derange')\n"
    program = fitted + audited + another + used
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "bag of words" in done.stdout


def test_no_page_installs_from_an_index_that_does_not_have_it() -> None:
    for page in PAGES:
        assert 'pip install "disorder[' not in page.read_text(encoding="utf-8"), page.name


def test_the_five_minute_transformation_works() -> None:
    code = re.search(
        r"```python\n(.*?)```",
        (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"),
        flags=re.DOTALL,
    )
    assert code
    lines = "\n".join(line.removeprefix("   ") for line in code[1].splitlines())
    program = lines + (
        "\nfrom disorder.transformations import parse\n"
        "from disorder.transformations.rendering import variant_texts\n"
        "from disorder.types import Example, Task\n"
        "example, task = Example.of('1', 'one two three four.', None, 'x'), Task('t', ('x',))\n"
        "made = parse('swap_neighbours').apply(example, task=task, q=1, seed=0)\n"
        "assert variant_texts(made) == [('two one four three.', None)]\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_metric_of_the_manual_keeps_the_contract() -> None:
    page = (ROOT / "docs" / "extend.md").read_text(encoding="utf-8")
    code = re.search(r"```python\n(.*?)```", page, flags=re.DOTALL)
    assert code
    try:
        exec(compile(code[1], "extend.md", "exec", dont_inherit=True), {"__name__": "steady"})
        for check in part_checks(part(MetricPart, "steady")):
            check()
    finally:
        unregister(MetricPart, "steady")


def test_figures_of_trust_stand_in_the_pages_that_they_name() -> None:
    docs = ROOT / "docs"
    rows = [
        line.strip("|").split("|")
        for line in (docs / "trust.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("|") and "](" in line
    ]
    checked = 0
    for *cells, source in rows:
        [link] = re.findall(r"\]\(([^)#]+)", source)
        page = (docs / link).read_text(encoding="utf-8")
        for figure in re.findall(r"\d+(?:[.,]\d+)+(?:e-\d)?", cells[-1]):
            assert figure in page, f"{figure} is not in {link}"
            checked += 1
    assert checked >= 8


def _script(name: str) -> Any:
    """A file of scripts/ as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_reference_is_current(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("yaml", reason="needs PyYAML")
    monkeypatch.setenv("COLUMNS", "80")
    pages = _script("reference").pages()
    stale = [path.name for path, text in pages.items() if _differs(path, text)]
    assert stale == [], "run: make reference"


def test_the_picture_and_the_walk_in_contributing_are_current() -> None:
    house = _script("house")
    walk = house.walked(house.COMMAND)
    assert len(walk.files) > 20, "the audit did not run"
    stale = [path.name for path, text in house.made(walk).items() if _differs(path, text)]
    assert stale == [], "run: make house"


def _differs(path: Path, text: str) -> bool:
    return not path.exists() or path.read_text(encoding="utf-8") != text


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_tutorials_run_and_print_what_they_say(page: Path) -> None:
    needs = {"audit-your-classifier": "sklearn", "is-my-benchmark-any-good": "sklearn"}
    needs["train-the-weakness-away"] = "torch"
    if page.stem in needs:
        pytest.importorskip(needs[page.stem], reason=f"needs {needs[page.stem]}")
    tutorials = _script("tutorials")
    before = page.read_text(encoding="utf-8")
    assert tutorials.steady(tutorials.run_page(page)) == tutorials.steady(before)


def test_every_test_that_holds_a_promise_is_there() -> None:
    text = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
    table = text.partition("## How each promise is tested")[2].partition("\n## ")[0]
    rows = [line for line in table.splitlines() if line.startswith("| ")][2:]
    named = [re.findall(r"`([\w/]*test_\w+\.py)`", row) for row in rows]
    assert len(rows) > 15
    assert all(named)
    missing = [path for paths in named for path in paths if not (ROOT / "tests" / path).is_file()]
    assert missing == []


def test_no_line_of_a_page_is_endless() -> None:
    """Cards of parts name every column that a task may be in, and studies are what was printed."""
    long = [
        f"{page.name}:{number}"
        for page in PAGES
        if page.parent.name != "reference" and page.name != "study.md"
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1)
        if len(line) >= 600
    ]
    assert long == []


def test_every_page_is_in_the_navigation() -> None:
    pytest.importorskip("yaml", reason="needs PyYAML")
    named = {path for paths in _script("reference").sections().values() for path in paths}
    folder = ROOT / "docs"
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*.md")}
    assert there == named
