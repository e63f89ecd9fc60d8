"""Errors: every mistake a user can make is a `DisorderError` with one clear line."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class DisorderError(Exception):
    """The user's mistake: the command line prints the message alone and exits with code 2."""


class BadSetting(DisorderError):
    """A setting of a part has a value that cannot work."""

    def __init__(self, part: str, *, need: str, **got: object) -> None:
        settings = ", ".join(f"{name}={value!r}" for name, value in got.items())
        super().__init__(f"{part}: {settings} does not work; need {need}")


class UnknownName(DisorderError):
    """A name that nothing is registered or known under."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
        hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(names)}"
        super().__init__(f"unknown {kind} {name!r}; {hint}")


class BadData(DisorderError):
    """Data that cannot be read as asked."""


class BadModel(DisorderError):
    """A model that cannot be loaded, or does not fit the data."""


class NothingToMeasure(DisorderError):
    """A score was asked of no examples."""


class MissingPackage(DisorderError):
    """A part needs an optional package that is not installed."""

    def __init__(self, part: str, package: str, extra: str) -> None:
        super().__init__(f'{part} needs the package {package!r}: pip install "disorder[{extra}]"')


class MissingData(DisorderError):
    """A part needs data or a model of an installed package that is not there."""


class DoesNotApply(Exception):
    """A part cannot be used on this example, which is skipped and counted under the reason; never
    shown as a failure.
    """


def named_parameters(function: Callable[P, R]) -> Callable[P, R]:
    """A function whose misspelt keyword is an error with the nearest name, not a raw TypeError."""
    known = list(inspect.signature(function).parameters)

    @wraps(function)
    def call(*arguments: P.args, **settings: P.kwargs) -> R:
        for name in settings:
            if name not in known:
                raise UnknownName(f"parameter of {function.__name__}", name, known)
        return function(*arguments, **settings)

    return call
