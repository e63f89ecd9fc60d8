"""Templates of others, in a sandbox that comes to an end and fills no memory: rounds of loops and
calls are counted, and no value is computed that is larger than a limit.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from itertools import count
from typing import Any

from jinja2 import BaseLoader, StrictUndefined, TemplateError, nodes
from jinja2.exceptions import TemplateRuntimeError
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer

# what a template can raise when it is compiled or filled in
TEMPLATE_ERRORS = (
    *(TemplateError, TypeError, ValueError, ArithmeticError, LookupError),
    *(RecursionError, MemoryError),
)
MAX_STEPS = 100_000  # rounds of loops and calls
MAX_CHARACTERS = 10_000_000
COUNTED = "counted"  # the filter that every loop goes through
CONCATENATED = "concatenated"  # the filter that joins texts
WIDE = re.compile(r"[%:][^%{}\s]{0,9}\d{7}")  # a width of a formatted number

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
    """Templates see nothing but their variables; texts are values and never code. Nothing is
    computed while a template is compiled, where no step is counted.
    """

    intercepted_binops = frozenset(("*", "**", "+", "%"))

    def __init__(self, loader: BaseLoader | None = None) -> None:
        super().__init__(
            loader=loader, undefined=StrictUndefined, autoescape=False, optimized=False
        )
        self.filters = {name: _bounded(each) for name, each in self.filters.items()}
        self.filters[COUNTED] = _counted
        self.filters[CONCATENATED] = _concatenated

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        """A template whose loops are counted."""
        found = super()._parse(source, name, filename)
        for loop in found.find_all(nodes.For):
            loop.iter = nodes.Filter(loop.iter, COUNTED, [], [], None, None, lineno=loop.lineno)
        counted: nodes.Template = Concatenations().visit(found)
        return counted

    def call(self, context: Context, called: Any, /, *given: Any, **named: Any) -> Any:
        """Call a function or macro of a template."""
        _step()
        _check_size(getattr(called, "__self__", ""), *given, *named.values())
        return super().call(context, called, *given, **named)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Compute with two values whose result is not too large."""
        if operator == "%":
            _check_size(left, *(right if isinstance(right, tuple) else (right,)))
        elif operator == "+":
            _check_size(_length(left) + _length(right))
        else:
            numbers = [each for each in (left, right) if isinstance(each, int)]
            texts = [_length(each) for each in (left, right) if not isinstance(each, int)]
            n_digits = sum(map(int.bit_length, numbers))
            if operator == "**" and len(numbers) == 2:
                n_digits = left.bit_length() * abs(right)
            _check_size(math.prod([*texts, *numbers]) if texts else n_digits)
        return super().call_binop(context, operator, left, right)


class Concatenations(NodeTransformer):
    """Every `a ~ b` as a filter, which bounds its length."""

    def visit_Concat(self, node: nodes.Concat) -> nodes.Filter:  # noqa: N802 (called by this name)
        """The parts as a list, concatenated by our filter."""
        parts = nodes.List([self.visit(each) for each in node.nodes], lineno=node.lineno)
        return nodes.Filter(parts, CONCATENATED, [], [], None, None, lineno=node.lineno)


def _concatenated(parts: Sequence[Any]) -> str:
    return joined(map(str, parts))


def _bounded(function: Callable[..., Any]) -> Callable[..., Any]:
    """A filter that makes nothing too large of a number it is given."""

    @wraps(function)
    def checked(*given: Any, **named: Any) -> Any:
        _step()
        _check_size(*given, *named.values())
        return function(*given, **named)

    return checked


def _length(value: Any) -> int:
    return len(value) if isinstance(value, Sized) else 0


def _check_size(*given: Any) -> None:
    """Raise on a number, or on a text that formats one, that would make something too large."""
    for value in given:
        is_large = isinstance(value, int) and abs(value) > MAX_CHARACTERS
        if is_large or (isinstance(value, str) and WIDE.search(value)):
            raise TemplateRuntimeError(f"it makes something longer than {MAX_CHARACTERS:,}")


def _counted(values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        _step()
        yield value


def _step() -> None:
    if next(_steps.get()) > MAX_STEPS:
        raise TemplateRuntimeError(f"it takes more than {MAX_STEPS:,} rounds of loops and calls")
