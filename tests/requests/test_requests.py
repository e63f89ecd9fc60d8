"""Requests: an option is declared once, and everything else follows from it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import disorder
from conftest import Command, pairs
from disorder.requests.audit import AuditOptions, ResumeOptions
from disorder.requests.option import declared_in

ROOT = Path(__file__).parents[2]
SOURCE = Path(disorder.__file__).parent
DECLARATION = """
    throw_away: Annotated[
        str | None, engine("A machine that is not there", named_again="must")
    ]
"""
EVERYWHERE = """
import sys
from pathlib import Path
import disorder
from disorder.errors import naming_options
from disorder.verbs.audit import audit
from disorder.verbs.model_loading import resume_command

assert "throw_away: A machine that is not there" in disorder.audit.__doc__
run = audit("uniform", "builtin", throw_away="here", with_="sort", limit=5, cache="off")
assert run.settings["throw_away"] == "here"
with naming_options():
    print(resume_command("folder", run.model, run.settings))
sys.path.insert(0, sys.argv[1])
import reference
made = {path.parent.name + "/" + path.name: text for path, text in reference.pages().items()}
assert "--throw-away TEXT" in made["reference/commands.md"]
assert "- `throw_away`: A machine that is not there" in made["reference/python.md"]
assert "throw_away: str | None" in made["requests/fields.pyi"]
"""


def test_an_option_is_added_in_one_place(tmp_path: Path) -> None:
    package = tmp_path / "src" / "disorder"
    shutil.copytree(SOURCE, package, ignore=shutil.ignore_patterns("__pycache__"))
    request = package / "requests" / "audit.py"
    text = request.read_text(encoding="utf-8")
    before = '    """The Ray cluster to join."""\n'
    assert before in text
    request.write_text(text.replace(before, before + DECLARATION), encoding="utf-8")
    place = os.environ | {"PYTHONPATH": str(package.parent), "COLUMNS": "80"}

    def run(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, *words], capture_output=True, text=True, env=place, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    shown = run("-m", "disorder", "audit", "--help-all")
    assert "--throw-away TEXT" in shown
    told = run("-c", EVERYWHERE, str(ROOT / "scripts"))
    assert told == "disorder audit --resume folder --throw-away here\n"


def test_a_type_checker_finds_a_misspelt_and_a_mistyped_option(tmp_path: Path) -> None:
    pytest.importorskip("mypy", reason="needs mypy")
    script = tmp_path / "mine.py"
    script.write_text(
        "import disorder\n"
        'run = disorder.audit("builtin", "data.jsonl", with_="derange", q=5, labels={"a": "b"})\n'
        'disorder.audit("builtin", "data.jsonl", limmit=5)\n'
        'disorder.audit("builtin", "data.jsonl", q="many")\n',
        encoding="utf-8",
    )
    place = dict(os.environ)
    if SOURCE.parent.name != "site-packages":  # an installed package is found without
        place["MYPYPATH"] = str(SOURCE.parent)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent"),
            *("--cache-dir", str(tmp_path / "cache"), str(script)),
        ],
        capture_output=True,
        text=True,
        env=place,
        cwd=tmp_path,
        check=False,
    )
    lines = [line for line in done.stdout.splitlines() if "error:" in line]
    assert len(lines) == 2, done.stdout
    assert lines[0].startswith("mine.py:3")
    assert 'keyword argument "limmit"' in lines[0]
    assert lines[1].startswith("mine.py:4")
    assert 'expected "int' in lines[1]


@pytest.mark.parametrize("verb", ["audit", "plan", "perturb", "explain", "sanity", "train"])
def test_help_is_one_screen_with_examples(
    verb: str, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    _, shown, _ = command(verb, "--help")
    lines = shown.splitlines()
    assert 24 <= len(lines) <= 40
    assert max(map(len, lines)) <= 80
    assert shown.count(f"\n  disorder {verb} ") == 2


def test_all_options_are_shown_by_group(command: Command) -> None:
    _, shown, _ = command("audit", "--help-all")
    for declared in declared_in(AuditOptions).values():
        assert f"  {declared.flags[0]}" in shown
        assert f"\n{declared.option.group}:\n" in shown


@pytest.mark.parametrize(
    ("keywords", "options", "message"),
    [
        ({"limit": 0}, ["--limit", "0"], "does not work; need 1 or more"),
        ({"limit": "few"}, ["--limit", "few"], "does not work; need a whole number"),
        ({"short": "drop"}, ["--short", "drop"], "does not work; need skip or use"),
        ({"agree": 2}, ["--agree", "2"], "does not work; need a share above 0, at most 1"),
        (
            {"curtail": True, "stop_when": "x"},
            ["--curtail", "--stop-when", "x"],
            "does not work; need one of the two",
        ),
    ],
)
def test_both_surfaces_say_the_same(
    keywords: dict[str, Any], options: list[str], message: str, command: Command
) -> None:
    said = ", ".join(f"{name}={value!r}" for name, value in keywords.items())
    with pytest.raises(disorder.DisorderError) as error:
        disorder.audit("uniform", pairs(4), **keywords)
    assert str(error.value) == f"audit: {said} {message}".replace("agree=2 ", "agree=2.0 ")
    code, _, told = command("audit", "uniform", "builtin", *options)
    assert code == 2
    assert message in told
    assert all(option in told for option in options)


def test_a_shell_completes_commands_options_and_values() -> None:
    def completed(line: str) -> str:
        place = os.environ | {
            "_DISORDER_COMPLETE": "complete_bash",
            "COMP_WORDS": line,
            "COMP_CWORD": str(len(line.split(" ")) - 1),
        }
        return subprocess.run(
            [sys.executable, "-m", "disorder"],
            capture_output=True,
            text=True,
            env=place,
            check=True,
        ).stdout

    assert "audit" in completed("disorder au").split()
    assert "--limit" in completed("disorder audit --lim").split()
    assert completed("disorder audit --short s").split() == ["skip"]


def test_what_must_be_said_again_can_be_said_again() -> None:
    """Else the line that says how to resume could not be made, or be typed."""
    again = declared_in(ResumeOptions)
    named = [name for name, each in declared_in(AuditOptions).items() if each.option.named_again]
    assert "match" in named
    assert [name for name in named if name not in again] == []
