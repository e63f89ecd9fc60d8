"""Templates of others, in a sandbox that comes to an end and fills no memory: rounds of loops and
calls are counted, and no value is computed that is larger than a limit.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from itertools import count
from typing import Any

from jinja2 import BaseLoader, Environment, StrictUndefined, TemplateError, nodes
from jinja2.exceptions import TemplateRuntimeError
from jinja2.nodes import EvalContext
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
# filters and methods that put a value into places of a text: before which marks, none: anywhere
PLACES = {
    **dict.fromkeys(("format", "format_map"), "%{"),
    **dict.fromkeys(("replace", "translate", "wordwrap"), ""),
    "indent": "\n",
    "expandtabs": "\t",
}
PASSED = (Context, EvalContext, Environment)  # what jinja2 passes to filters by itself
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
        self.filters = {name: _bounded(name, each) for name, each in self.filters.items()}
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
        text = getattr(called, "__self__", "")
        name = getattr(called, "__name__", "") if isinstance(text, str) else ""
        if name == "join":
            given = tuple(_items(each) for each in given)
        _check_size(text, *given, *named.values())
        values = (*given, text) if name == "join" else (text, *given, *named.values())
        _check_growth(name, *values)
        return super().call(context, called, *given, **named)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Compute with two values whose result is not too large."""
        if operator == "%":
            values = right if isinstance(right, tuple) else (right,)
            _check_size(left, *values)
            _check_growth("format", left, *values)
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
    _check_size(sum(map(_size, parts)))
    return joined(map(str, parts))


def _bounded(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A filter that makes nothing too large of what it is given."""

    @wraps(function)
    def checked(*given: Any, **named: Any) -> Any:
        _step()
        if name == "join":
            given = tuple(_items(each) for each in given)
        _check_size(*given, *named.values())
        values = [each for each in given if not isinstance(each, PASSED)]
        _check_growth(name, *values, *named.values())
        return function(*given, **named)

    return checked


def _items(value: Any) -> Any:
    """What can be gone through only once as a list, to be measured before it is joined."""
    return list(value) if isinstance(value, Iterator) else value


def _check_growth(name: str, *values: Any) -> None:
    """Raise where the values together, or what a filter or method of a text makes of them, are too
    long: each of its places gets a value.
    """
    sizes = [_size(each) for each in values]
    n_characters = sum(sizes)
    if not values:
        return
    if name == "join":
        n_characters += _length(values[0]) * max(sizes[1:], default=0)
    elif name in PLACES:
        text = str(values[0])
        marks = [str(values[1])] if name == "replace" and len(values) > 1 else PLACES[name]
        n_places = 1 + (sum(map(text.count, marks)) if marks else len(text))
        is_width = name in ("indent", "expandtabs")
        widths = [each for each in values if isinstance(each, int) and is_width]
        n_characters += n_places * max([*sizes[1:], *widths], default=0)
    _check_size(n_characters)


def _size(value: Any) -> int:
    """How long a value is as a text, counted no further than to what is too long."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Mapping):
        value = [*value.keys(), *value.values()]
    n_characters = 1
    for each in value if isinstance(value, list | tuple | set) else ():
        n_characters += _size(each)
        if n_characters > MAX_CHARACTERS:
            break
    return n_characters


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
