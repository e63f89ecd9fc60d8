"""Errors: one clear line, and a command that really installs what is missing."""

from __future__ import annotations

import importlib.metadata
import json
import re
from pathlib import Path
from typing import Any

import pytest

import disorder
from conftest import Command
from disorder.errors import (
    DisorderError,
    MissingPackage,
    UnknownName,
    install_command,
    naming_options,
    option,
)
from disorder.requests.settings import resume_line

SOURCE = Path(disorder.__file__).parent


class Installed:
    """A distribution as pip records it, in direct_url.json."""

    def __init__(self, origin: dict[str, Any] | None) -> None:
        self.origin = origin

    def read_text(self, name: str) -> str | None:
        assert name == "direct_url.json"
        return None if self.origin is None else json.dumps(self.origin)


@pytest.mark.parametrize(
    ("origin", "command"),
    [
        (None, 'pip install "disorder[nlp]"'),
        (
            {"url": "file:///home/me/my%20clone", "dir_info": {"editable": True}},
            'pip install -c "/home/me/my clone/constraints.txt" "/home/me/my clone[nlp]"',
        ),
        (
            {"url": "https://host/disorder", "vcs_info": {"vcs": "git", "commit_id": "c0ffee"}},
            'pip install "disorder[nlp] @ git+https://host/disorder"',
        ),
        (
            {"url": "file:///tmp/disorder-0.1.0-py3-none-any.whl", "archive_info": {}},
            'pip install "disorder[nlp] @ file:///tmp/disorder-0.1.0-py3-none-any.whl"',
        ),
    ],
)
def test_an_extra_is_installed_from_where_disorder_came(
    origin: dict[str, Any] | None, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.metadata, "distribution", lambda _: Installed(origin))
    assert install_command("nlp") == command
    told = str(MissingPackage("words=spacy", "spacy", "nlp"))
    assert told == f"words=spacy needs the package 'spacy': {command}"


def test_the_command_is_written_in_one_place() -> None:
    files = [
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if re.search(r"disorder\[", path.read_text(encoding="utf-8"))
    ]
    assert files == ["errors.py"]


def test_an_unknown_name_gets_the_nearest_or_all() -> None:
    assert str(UnknownName("engine", "loca", ["ray", "local"])) == (
        "unknown engine 'loca'; did you mean 'local'?"
    )
    assert str(UnknownName("engine", "x", ["ray", "local"])) == (
        "unknown engine 'x'; known: local, ray"
    )


@pytest.mark.parametrize(
    ("keyword", "value", "in_python", "typed"),
    [
        ("limit", 0, "limit=0", "--limit 0"),
        ("data_dir", ..., "data_dir", "--data-dir"),
        ("with_", "T", "with_='T'", "--with T"),
        ("prompt", ["a b", "c"], "prompt=['a b', 'c']", "--prompt 'a b' --prompt c"),
        ("out", Path("runs/mine--mnli"), "out='runs/mine--mnli'", "--out runs/mine--mnli"),
        ("curtail", True, "curtail=True", "--curtail"),
    ],
)
def test_an_option_is_named_as_the_reader_writes_it(
    keyword: str, value: Any, in_python: str, typed: str
) -> None:
    assert option(keyword, value) == in_python
    with naming_options():
        assert option(keyword, value) == typed
    assert option(keyword, value) == in_python


def test_what_resumes_a_run_is_a_command_or_a_line_of_python() -> None:
    given: Any = {"base_url": "http://127.0.0.1:1/v1", "prompt": ["my prompt.j2"]}
    assert resume_line("runs/x", "python:mine:model", **given) == (
        'disorder.resume("runs/x", model="python:mine:model", base_url="http://127.0.0.1:1/v1", '
        'prompt=["my prompt.j2"])'
    )
    with naming_options():
        assert resume_line("runs/x", "python:mine:model", **given) == (
            "disorder audit --resume runs/x python:mine:model --base-url http://127.0.0.1:1/v1 "
            "--prompt 'my prompt.j2'"
        )


def test_each_surface_reads_its_own_words(run: Command) -> None:
    with pytest.raises(DisorderError, match="labels='x': write it as"):
        disorder.audit("builtin", "builtin", labels="x", limit=10)
    code, _, error = run("audit", "builtin", "builtin", "--labels", "x", "--limit", 10)
    assert code == 2
    assert "--labels x: write it as" in error
