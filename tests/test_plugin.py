"""Plugins by their entry points: the example has one file per part, a verb is a command and a
function.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

import disorder
from disorder.registry import KINDS

EXAMPLE = Path(__file__).parents[1] / "examples" / "disorder-stutter"
DECLARED = tomllib.loads((EXAMPLE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SAYING = """
import typer
from disorder.cli.output import print_text
from disorder.registry import verb

@verb(group="Change", python="saying:twice")
def say(text: str) -> None:
    "Say TEXT twice."
    print_text(twice(text))

def twice(text):
    return f"{text} {text}"
"""


def with_plugin(code: str, entry_points: Mapping[str, Mapping[str, str]], *folders: Path) -> str:
    """What a program prints that has the plugins with these entry points, and no other."""
    door = f"""
from importlib.metadata import EntryPoint
from disorder.registry import lookup
declared = {entry_points!r}
lookup.entry_points = lambda group: [
    EntryPoint(name, value, group) for name, value in declared.get(group, {{}}).items()
]
"""
    path = os.pathsep.join(map(str, (*folders, Path(disorder.__file__).parents[1])))
    done = subprocess.run(
        [sys.executable, "-c", door + code],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": path},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_file_of_the_plugin_is_a_part() -> None:
    code = """
import disorder
print(*[part["kind"] for part in disorder.list_parts() if part["origin"] == "plugin"])
"""
    kinds = with_plugin(code, DECLARED["entry-points"], EXAMPLE / "src").split()
    assert set(kinds) == set(KINDS)
    files = {path.stem for path in (EXAMPLE / "src" / "disorder_stutter").glob("*.py")}
    assert len(kinds) == len(files - {"__init__"}) + 1  # a network comes with its model


def test_a_verb_of_a_plugin_is_a_command_and_a_function(tmp_path: Path) -> None:
    (tmp_path / "saying.py").write_text(SAYING)
    code = """
import disorder
from disorder.cli import main
print(disorder.say("Anna"))
assert "say" in dir(disorder)
for arguments in (["say", "Anna"], []):
    try:
        main(arguments)
    except SystemExit as done:
        assert done.code == 0
"""
    declared = {"disorder.verbs": {"say": "saying"}, "disorder": {"broken": "not_there"}}
    function, command, *welcome = with_plugin(code, declared, tmp_path).splitlines()
    assert function == command == "Anna Anna"
    assert any(line.split() == ["say", "Say", "TEXT", "twice."] for line in welcome)
