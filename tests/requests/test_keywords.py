"""Keyword checks: the signature stays, a misspelt keyword is told what was meant."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from disorder.errors import DisorderError, UnknownName
from disorder.requests.settings import takes_options


@takes_options(inside={"settings": ("lr",)})
def measure(data: str, *, limit: int = 1, settings: Any = None) -> str:
    """Measure it."""
    return f"{data} {limit}"


def test_the_function_is_as_before() -> None:
    assert measure("a", limit=2) == measure(data="a", limit=2) == "a 2"
    assert list(inspect.signature(measure).parameters) == ["data", "limit", "settings"]
    assert measure.__doc__ == "Measure it."


def test_a_misspelt_keyword_says_what_was_meant() -> None:
    wrong: dict[str, Any] = {"limmit": 2}
    with pytest.raises(UnknownName, match=r"unknown keyword of measure 'limmit'.* 'limit'"):
        measure("a", **wrong)


def test_a_name_that_belongs_into_a_mapping_is_told_where() -> None:
    wrong: dict[str, Any] = {"lr": 0.1}
    with pytest.raises(DisorderError, match=r"measure: write lr as settings=\{'lr': …\}"):
        measure("a", **wrong)
