"""Templates that end: Jinja in its sandbox, with a limit to the rounds of loops, the calls and the
characters of one rendering.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import count
from typing import Any

from jinja2 import BaseLoader, StrictUndefined, nodes
from jinja2.exceptions import TemplateRuntimeError
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

MAX_STEPS = 100_000  # rounds of loops and calls
MAX_CHARACTERS = 10_000_000
COUNTED = "counted"  # the filter that every loop goes through

_steps: ContextVar[Iterator[int]] = ContextVar("_steps")


@contextmanager
def limited() -> Iterator[None]:
    """Count steps from 0 on."""
    token = _steps.set(count(1))
    try:
        yield
    finally:
        _steps.reset(token)


def joined(parts: Iterable[str]) -> str:
    """What a template gives, piece by piece, as one text."""
    found = []
    n_characters = 0
    for part in parts:
        n_characters += len(part)
        if n_characters > MAX_CHARACTERS:
            raise TemplateRuntimeError(f"it gives more than {MAX_CHARACTERS:,} characters")
        found.append(part)
    return "".join(found)


class LimitedEnvironment(ImmutableSandboxedEnvironment):
    """Templates see nothing but their variables; texts are values and never code."""

    def __init__(self, loader: BaseLoader | None = None) -> None:
        super().__init__(loader=loader, undefined=StrictUndefined, autoescape=False)
        self.filters[COUNTED] = _counted

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        """A template whose loops are counted."""
        found = super()._parse(source, name, filename)
        for loop in found.find_all(nodes.For):
            loop.iter = nodes.Filter(loop.iter, COUNTED, [], [], None, None, lineno=loop.lineno)
        return found

    def call(self, context: Context, called: Any, /, *given: Any, **named: Any) -> Any:
        """Call a function or macro of a template."""
        _step()
        return super().call(context, called, *given, **named)


def _counted(values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        _step()
        yield value


def _step() -> None:
    if next(_steps.get()) > MAX_STEPS:
        raise TemplateRuntimeError(f"it takes more than {MAX_STEPS:,} rounds of loops and calls")
