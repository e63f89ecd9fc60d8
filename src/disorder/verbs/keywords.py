"""Keyword checks for public functions: a misspelt keyword is a `DisorderError`, not a TypeError."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import ParamSpec, TypeVar

from disorder.errors import DisorderError, UnknownName

P = ParamSpec("P")
R = TypeVar("R")


def check_keywords(
    inside: Mapping[str, tuple[str, ...]] | None = None,
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a public function so that an unknown keyword raises `UnknownName`.

    `inside` maps a keyword that takes a mapping to the names that belong into it: one of those
    given as a keyword of its own is told where it goes. Signature and types stay as they are.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        known = tuple(inspect.signature(function).parameters)

        @wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            for name in kwargs:
                if name not in known:
                    raise _unknown(function.__name__, name, known, inside or {})
            return function(*args, **kwargs)

        return checked

    return decorate


def _unknown(
    function: str, name: str, known: tuple[str, ...], inside: Mapping[str, tuple[str, ...]]
) -> DisorderError:
    for owner, names in inside.items():
        if name in names:
            return DisorderError(f"{function}: write {name} as {owner}={{{name!r}: …}}")
    return UnknownName(f"keyword of {function}", name, known)
