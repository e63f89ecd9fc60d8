"""The declaration of a part: one registered function, and what its decorator says about it."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, TypeVar

from disorder.errors import BadSetting, UnknownName

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, kw_only=True)
class Part:
    """One registered function, and what its decorator says about it."""

    kind: ClassVar[str]

    name: str
    function: Callable[..., Any]
    paper: str = ""

    @property
    def summary(self) -> str:
        """The first paragraph of the docstring, as `disorder list` prints it."""
        return first_paragraph(self.function)

    @property
    def is_built_in(self) -> bool:
        """Whether it ships with disorder."""
        return self.function.__module__.split(".")[0] == "disorder"

    @cached_property
    def settings(self) -> dict[str, Any]:
        """Its keyword-only settings with their defaults."""
        return {
            name: parameter.default
            for name, parameter in inspect.signature(self.function).parameters.items()
            if parameter.kind is parameter.KEYWORD_ONLY
        }

    @cached_property
    def _hints(self) -> dict[str, Any]:
        return typing.get_type_hints(self.function)

    def bind(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Settings as typed by a user, converted to the types that the function declares."""
        for name in given:
            if name not in self.settings:
                known = self.settings or {"(it has none)": None}
                raise UnknownName(f"setting of {self.name}", name, known)
        return {name: self._convert(name, value) for name, value in given.items()}

    def _convert(self, name: str, value: Any) -> Any:
        from pydantic import TypeAdapter, ValidationError

        hint = self._hints[name]
        try:
            return TypeAdapter(hint).validate_python(value)
        except ValidationError:
            raise BadSetting(self.name, need=_wanted(hint), **{name: value}) from None


def first_paragraph(function: Callable[..., Any]) -> str:
    """The first paragraph of a docstring, as one line."""
    return (inspect.getdoc(function) or "").split("\n\n")[0].replace("\n", " ")


def _wanted(hint: Any) -> str:
    """What a setting of this type needs, in words."""
    options = typing.get_args(hint)
    if typing.get_origin(hint) is Literal:
        return " or ".join(map(str, options))
    if options:  # an optional setting
        hint = next(option for option in options if option is not type(None))
    if hint is bool:
        return "true or false"
    return f"a value of type {getattr(hint, '__name__', hint)}"
