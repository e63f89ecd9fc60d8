"""A prompt's template: Jinja in a sandbox, with an instruction said once and a part per text.

A template may use `text_a`, `text_b` and `options`, for multiple choice also `ask`. Its block
`instruction` uses `options` only, so that it is the same for every text and its keys and values can
be shared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from jinja2 import Template, TemplateError, TemplateSyntaxError
from jinja2.loaders import DictLoader
from jinja2.meta import find_undeclared_variables

from disorder.errors import DisorderError, UnknownName
from disorder.models.prompting.limited_templates import LimitedEnvironment, joined, limited
from disorder.types import Texts

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
