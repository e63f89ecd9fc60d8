"""The papers come in as a plugin does: commands, functions, items, transformations."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import pytest

import disorder

Command = Callable[..., tuple[int, str, str]]
VERBS = ("designs", "mitigations", "study")


@pytest.mark.parametrize("name", VERBS)
def test_a_verb_is_a_documented_function(name: str) -> None:
    function = getattr(disorder, name)
    kinds = {p.kind for p in inspect.signature(function).parameters.values()}
    assert inspect.Parameter.VAR_KEYWORD not in kinds
    assert len(inspect.getdoc(function) or "") > 60
    assert name in dir(disorder)


def test_a_typo_is_one_line_with_the_nearest_name() -> None:
    with pytest.raises(disorder.DisorderError, match="did you mean 'limit'"):
        disorder.study("unli/table2", limmit=1)  # type: ignore[call-arg]


def test_the_short_help_has_their_commands(command: Command) -> None:
    code, out, err = command()
    assert (code, err) == (0, "")
    for name in VERBS:
        assert any(line.startswith(f"  {name} ") for line in out.splitlines()), name


def test_their_parts_are_listed(command: Command) -> None:
    _, out, _ = command("list")
    assert "unli/table2" in out
    assert "pbsmt" in out
    assert {part["kind"] for part in disorder.list_parts()} >= {"item", "verb"}
