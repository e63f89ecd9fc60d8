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
    with_keywords,
)

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
    ("option", "keyword"),
    [
        ("--limit 0: need 1 or more", "limit=0: need 1 or more"),
        ("choose another --out (nothing was changed)", "choose another out (nothing was changed)"),
        ("neither --data-dir nor DISORDER_DATA", "neither data_dir nor DISORDER_DATA"),
        ("say --with T", "say with_=T"),
        ("--set lr=a", "settings=lr=a"),
        ("resume it: --resume runs/x", 'resume it: disorder.resume("runs/x")'),
        ("say which: disorder audit --resume DIR", "say which: disorder audit --resume DIR"),
    ],
)
def test_python_reads_keywords_for_options(option: str, keyword: str) -> None:
    assert with_keywords(option) == keyword


def test_each_surface_reads_its_own_words(run: Command) -> None:
    with pytest.raises(DisorderError, match="labels='x': write it as"):
        disorder.audit("builtin", "builtin", labels="x", limit=10)
    code, _, error = run("audit", "builtin", "builtin", "--labels", "x", "--limit", 10)
    assert code == 2
    assert "--labels 'x': write it as" in error
