"""A prompt's template: Jinja in a sandbox, with an instruction said once and a part per text.

A template may use `text_a`, `text_b` and `options`, for multiple choice `question`, `ask` and
`context`, and any column of the data by its name. Its blocks `system` (a message of the system
role) and `instruction` use `options` only, so that they are the same for every text and their keys
and values can be shared.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cached_property, wraps
from itertools import count
from typing import Any

from jinja2 import BaseLoader, StrictUndefined, Template, TemplateError, TemplateSyntaxError, nodes
from jinja2.exceptions import TemplateRuntimeError
from jinja2.loaders import DictLoader
from jinja2.meta import find_undeclared_variables
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer

from disorder.errors import BadModel, DisorderError, DoesNotApply, UnknownName
from disorder.models.inputs.prompt_tokens import PromptTokens
from disorder.models.inputs.tokens import Spans, token_units
from disorder.types import Segments, Texts, TokenUnit

OF_TEXTS = ("text_a", "text_b", "options")
OF_QUESTIONS = ("question", "ask", "context", "passages")
VARIABLES = (*OF_TEXTS, *OF_QUESTIONS)
INSTRUCTION = "instruction"
SYSTEM = "system"
NOT_THERE: Mapping[str, Any] = {"text_b": None, "ask": "", "context": "", "passages": ()}
MARK = "\ue000"  # a character for private use: no text has it
WITHOUT = (
    '{% extends "whole" %}{% block instruction %}{% endblock %}{% block system %}{% endblock %}'
)
# what an expression of a template can raise beside Jinja's own errors
EXPRESSION_ERRORS = (
    *(TemplateError, TypeError, ValueError, ArithmeticError, LookupError),
    RecursionError,
)


@dataclass(frozen=True)
class PromptTemplate:
    """A template, checked when it is made; `name` is how errors call it, `columns` are those of
    the data.
    """

    name: str
    source: str
    columns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        with self._explained():
            LimitedEnvironment().parse(self.source)
            used = self.variables
        known = (*OF_TEXTS, *self.columns) if self.columns else VARIABLES
        for variable in sorted(used - {*VARIABLES, *self.columns}):
            raise UnknownName(f"variable in the prompt {self.name}", variable, known)
        if used.isdisjoint(("text_a", "question")):
            raise DisorderError(
                f"prompt {self.name}: the template never uses text_a, so that every text would get "
                "the same prediction; write {{ text_a }} where the text belongs"
            )
        with self._explained():
            self._parts  # noqa: B018 (compiled now, so that a mistake shows now)

    def __getstate__(self) -> dict[str, Any]:
        """Only the source: compiled templates cannot be sent to other processes."""
        return {"name": self.name, "source": self.source, "columns": self.columns}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, value)

    @cached_property
    def variables(self) -> set[str]:
        """What it fills in."""
        return variables_of(self.source)

    @property
    def uses_second(self) -> bool:
        """Whether the second text of a pair has a place in it."""
        return "text_b" in self.variables

    @cached_property
    def _parts(self) -> tuple[Template, Template]:
        """The whole template, and the one without its instruction."""
        sources = {"whole": self.source, "item": WITHOUT}
        environment = LimitedEnvironment(DictLoader(sources))
        whole = environment.get_template("whole")
        has_block = {INSTRUCTION, SYSTEM} & whole.blocks.keys()
        return whole, environment.get_template("item") if has_block else whole

    def instruction(self, options: Sequence[str]) -> str:
        """What is said once, before all texts; empty where the template has no such block."""
        return self._block(INSTRUCTION, options)

    def system(self, options: Sequence[str]) -> str:
        """The message of the system role; empty where the template has no such block."""
        return self._block(SYSTEM, options)

    def _block(self, name: str, options: Sequence[str]) -> str:
        whole, _ = self._parts
        if name not in whole.blocks:
            return ""
        with self._explained():
            context = whole.new_context({"options": list(options)})
            return joined(whole.blocks[name](context)).strip()

    def item(self, segments: Segments, options: Sequence[str]) -> str:
        """What is said of one input, up to the place of the answer; `options` as they are shown."""
        _, item = self._parts
        # a probe has no columns of the data: it says its own text there
        others = dict.fromkeys(self.columns, segments.get("text_a", ""))
        given = {**others, **NOT_THERE, **segments, "options": list(options)}
        with self._explained():
            return joined(item.generate(given)).strip()

    def lead(self, first: str, options: Sequence[str]) -> str:
        """How the part of a pair begins, up to its second text; empty if that cannot be said."""
        before, mark, _ = self.item({"text_a": first, "text_b": MARK}, options).partition(MARK)
        return before if mark else ""

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Jinja's errors as one line."""
        try:
            with limited():
                yield
        except TemplateSyntaxError as error:
            raise DisorderError(
                f"prompt {self.name}, line {error.lineno}: {error.message}"
            ) from None
        except EXPRESSION_ERRORS as error:
            why = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise DisorderError(f"prompt {self.name} cannot be filled in: {why}") from None


def variables_of(source: str) -> set[str]:
    """What a template fills in; none where it is no template."""
    try:
        return find_undeclared_variables(LimitedEnvironment().parse(source))
    except TemplateSyntaxError:
        return set()


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
        return Concatenations().visit(found)

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


MARKS = ("\ue000", "\ue001")  # private characters, which stand for the two texts


@dataclass(frozen=True)
class TextPlace:
    """One text in a prompt: its tokens from `start` to `end`, and as units that can be moved."""

    start: int
    end: int
    units: list[TokenUnit]


def marked(texts: Texts) -> Texts:
    """Marks in the place of the texts of an example."""
    return MARKS[0], None if texts[1] is None else MARKS[1]


def text_places(
    prompt: str, with_marks: str, texts: Texts, ids: Sequence[int], offsets: Spans
) -> list[TextPlace]:
    """Where the texts of an example lie in the tokens of a prompt, in the order of the example.

    `with_marks` is the same prompt with `MARKS` for the texts.
    """
    given = [text for text in texts if text is not None]
    places = []
    for text, start in zip(given, _starts(prompt, with_marks, given), strict=True):
        inside = [
            i
            for i, (first, last) in enumerate(offsets)
            if _is_inside(prompt, first, last, start, start + len(text))
        ]
        if not inside:
            raise DoesNotApply("the prompt shares its tokens with the text")
        first, end = inside[0], inside[-1] + 1
        spans = [(max(i, start) - start, j - start) for i, j in offsets[first:end]]
        places.append(TextPlace(first, end, token_units(text, ids[first:end], spans)))
    return places


def with_moved(
    tokens: PromptTokens, places: Sequence[TextPlace], moved: tuple[list[int], list[int] | None]
) -> PromptTokens:
    """The tokens of a prompt with other orders of its texts' tokens in their places."""
    shared = list(tokens.shared)
    for place, row in zip(places, moved, strict=False):
        shared[place.start : place.end] = row or ()
    return replace(tokens, shared=tuple(shared))


def _starts(prompt: str, with_marks: str, texts: Sequence[str]) -> list[int]:
    """Where each text begins in the prompt."""
    found = {mark: with_marks.find(mark) for mark in MARKS[: len(texts)]}
    if any(with_marks.count(mark) != 1 for mark in found):
        raise BadModel(
            "unit=token needs a prompt in which each text stands once; unit=subword does not"
        )
    lengths = dict(zip(MARKS, map(len, texts), strict=False))
    starts = [
        place + sum(lengths[other] - 1 for other in found if found[other] < place)
        for place in found.values()
    ]
    if any(
        prompt[start : start + len(text)] != text for start, text in zip(starts, texts, strict=True)
    ):
        raise DoesNotApply("the prompt does not hold the text as it is")
    return starts


def _is_inside(prompt: str, first: int, last: int, start: int, end: int) -> bool:
    """Whether a token lies in a text, white space before its letters aside."""
    letters = first + len(prompt[first:last]) - len(prompt[first:last].lstrip())
    return start <= letters < last <= end
