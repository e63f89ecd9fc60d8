"""The closing check: clean clones, resumed check by check, one row each."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def everything() -> Any:
    path = ROOT / "scripts" / "everything.py"
    spec = importlib.util.spec_from_file_location("everything", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["everything"] = module  # dataclasses look for it
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project of one file, committed."""
    root = tmp_path / "project"
    root.mkdir()
    (root / "there.txt").write_text("committed")
    person = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "-A"], [*person, "commit", "-qm", "One"]):
        subprocess.run(["git", "-C", str(root), *words], check=True)
    (root / "new.txt").write_text("not committed")
    return root


def test_what_passed_is_not_run_again_and_what_failed_is(everything: Any, project: Path) -> None:
    good = everything.Check("good", "test -f there.txt && test ! -f new.txt && echo fine")
    bad = everything.Check("bad", "echo broken | tee /dev/stderr; exit 3")
    lacking = everything.Check("lacking", "true", "shared")
    checks = [good, bad, lacking]
    assert everything.due(checks, project) == checks
    for check in checks:
        everything.keep(everything.run(check, project), project)
    assert everything.due(checks, project) == [bad, lacking]
    assert (project / "everything" / "logs" / "good.txt").read_text() == "fine\n"
    commit = everything.commit_of(project)
    rows = [line for line in everything.table(checks, project).splitlines() if commit in line]
    assert [row.split(" | ")[3] for row in rows] == [
        "passed",
        "failed, exit code 3",
        "not run: needs ../shared",
    ]


def test_the_page_keeps_the_rows_of_what_is_not_run_again(everything: Any, project: Path) -> None:
    checks = [everything.Check(name, f"echo {name} | cat") for name in ("one", "two", "three")]
    page = project / everything.PAGE
    page.parent.mkdir(parents=True)
    old = everything.Outcome("one", checks[0].command, "abc", "passed", 2.0)
    everything.keep(old, project)
    page.write_text(everything.table(checks, project))
    (project / "everything" / "results.jsonl").unlink()
    new = everything.Outcome("two", checks[1].command, "def", "failed, exit code 1", 1.0)
    everything.keep(new, project)
    rows = everything.table(checks, project).splitlines()[-3:]
    assert [row.split("` | ")[1] for row in rows] == [
        "abc | passed | 2.0 |",
        "def | failed, exit code 1 | 1.0 |",
        "– | not run | – |",
    ]


def test_an_environment_of_somebody_else_is_not_installed_into(
    everything: Any, tmp_path: Path
) -> None:
    (tmp_path / "theirs" / "bin").mkdir(parents=True)
    with pytest.raises(SystemExit, match="somebody else's; name a new folder"):
        everything.own_environment(tmp_path / "theirs")
    ours = everything.own_environment(tmp_path / "ours")
    assert everything.own_environment(ours) == ours


def test_every_target_of_the_makefile_that_tests_is_a_check(everything: Any) -> None:
    lines = (ROOT / "Makefile").read_text(encoding="utf-8").splitlines()
    targets = {line.partition(":")[0] for line in lines if line.startswith("test")}
    commands = " ".join(check.command for check in everything.all_checks(ROOT)).split()
    assert targets <= set(commands)


def test_the_stored_table_has_every_check(everything: Any) -> None:
    page = (ROOT / everything.PAGE).read_text(encoding="utf-8")
    checks = everything.all_checks(ROOT)
    assert [check.name for check in checks if f"| {check.name} |" not in page] == []


def test_the_tests_of_extras_are_there() -> None:
    text = (ROOT / "scripts" / "test_extras.py").read_text(encoding="utf-8")
    named = re.findall(r'"(tests/[^"]+)"', text)
    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []
