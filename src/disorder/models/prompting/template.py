"""A prompt's template: Jinja in a sandbox, with an instruction said once and a part per text.

A template may use `text_a`, `text_b` and `options`, for multiple choice also `ask`. Its block
`instruction` uses `options` only, so that it is the same for every text and its keys and values can
be shared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from typing import Any

from jinja2 import BaseLoader, StrictUndefined, Template, TemplateError, TemplateSyntaxError, nodes
from jinja2.exceptions import TemplateRuntimeError
from jinja2.loaders import DictLoader
from jinja2.meta import find_undeclared_variables
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

from disorder.errors import BadModel, DisorderError, DoesNotApply, UnknownName
from disorder.models.inputs.prompt_tokens import PromptTokens
from disorder.models.inputs.tokens import Spans, token_units
from disorder.types import Texts, TokenUnit

VARIABLES = ("text_a", "text_b", "options", "ask")
INSTRUCTION = "instruction"
MARK = "\ue000"  # a character for private use: no text has it
WITHOUT = '{% extends "whole" %}{% block instruction %}{% endblock %}'
# what an expression of a template can raise beside Jinja's own errors
EXPRESSION_ERRORS = (
    *(TemplateError, TypeError, ValueError, ArithmeticError, LookupError),
    RecursionError,
)


@dataclass(frozen=True)
class PromptTemplate:
    """A template, checked when it is made; `name` is how errors call it."""

    name: str
    source: str

    def __post_init__(self) -> None:
        with self._explained():
            used = find_undeclared_variables(LimitedEnvironment().parse(self.source))
        for variable in sorted(used - set(VARIABLES)):
            raise UnknownName(f"variable in the prompt {self.name}", variable, VARIABLES)
        if "text_a" not in used:
            raise DisorderError(
                f"prompt {self.name}: the template never uses text_a, so that every text would get "
                "the same prediction; write {{ text_a }} where the text belongs"
            )
        with self._explained():
            self._parts  # noqa: B018 (compiled now, so that a mistake shows now)

    def __getstate__(self) -> dict[str, str]:
        """Only the source: compiled templates cannot be sent to other processes."""
        return {"name": self.name, "source": self.source}

    def __setstate__(self, state: Mapping[str, str]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, value)

    @cached_property
    def uses_second(self) -> bool:
        """Whether the second text of a pair has a place in it."""
        return "text_b" in find_undeclared_variables(LimitedEnvironment().parse(self.source))

    @cached_property
    def _parts(self) -> tuple[Template, Template]:
        """The whole template, and the one without its instruction."""
        sources = {"whole": self.source, "item": WITHOUT}
        environment = LimitedEnvironment(DictLoader(sources))
        whole = environment.get_template("whole")
        has_instruction = INSTRUCTION in whole.blocks
        return whole, environment.get_template("item") if has_instruction else whole

    def instruction(self, options: Sequence[str]) -> str:
        """What is said once, before all texts; empty where the template has no such block."""
        whole, _ = self._parts
        if INSTRUCTION not in whole.blocks:
            return ""
        with self._explained():
            context = whole.new_context({"options": list(options)})
            return joined(whole.blocks[INSTRUCTION](context)).strip()

    def item(self, texts: Texts, options: Sequence[str], *, ask: str = "") -> str:
        """What is said of one text or pair, up to the place of the answer."""
        _, item = self._parts
        given: dict[str, Any] = {"text_a": texts[0], "text_b": texts[1], "options": list(options)}
        given["ask"] = ask
        with self._explained():
            return joined(item.generate(given)).strip()

    def lead(self, first: str, options: Sequence[str]) -> str:
        """How the part of a pair begins, up to its second text; empty if that cannot be said."""
        before, mark, _ = self.item((first, MARK), options).partition(MARK)
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
