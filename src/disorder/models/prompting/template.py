"""A prompt's template: Jinja in a sandbox, with an instruction said once and a part per text.

A template may use `text_a`, `text_b` and `options`, for multiple choice `question`, `ask` and
`context`, and any column of the data by its name. Its blocks `system` (a message of the system
role) and `instruction` use `options` only, so that they are the same for every text and their keys
and values can be shared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from jinja2 import Template, TemplateSyntaxError
from jinja2.loaders import DictLoader
from jinja2.meta import find_undeclared_variables

from disorder.errors import BadModel, DisorderError, DoesNotApply, UnknownName
from disorder.models.inputs.prompt_tokens import PromptTokens
from disorder.models.inputs.tokens import Spans, token_units
from disorder.safe_io.templates import TEMPLATE_ERRORS, LimitedEnvironment, joined, limited
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
        except TEMPLATE_ERRORS as error:
            why = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise DisorderError(f"prompt {self.name} cannot be filled in: {why}") from None


def variables_of(source: str) -> set[str]:
    """What a template fills in; none where it is no template."""
    try:
        return find_undeclared_variables(LimitedEnvironment().parse(source))
    except TemplateSyntaxError:
        return set()


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
