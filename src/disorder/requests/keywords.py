"""Keywords: a public function takes the options of its verb, checked in one place.

`def audit(…, **options: Unpack[AuditOptions])` shows every option in its signature and its help.
"""

from __future__ import annotations

import collections.abc
import inspect
import types
import typing
import warnings
from collections.abc import Callable, Mapping
from functools import partial, wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from disorder.errors import BadOption, DisorderError, UnknownName
from disorder.registry.own import own_parts
from disorder.requests.option import Declared, declared_in

P = ParamSpec("P")
R = TypeVar("R")


def takes_options(
    request: type | None = None,
    *,
    verb: str = "",
    inside: Mapping[str, tuple[str, ...]] | None = None,
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a public function: every keyword is known, of its type and within its limits, or an
    error says which one is not. Its types stay as they are.

    `request` declares what it takes as `**options: Unpack[request]`. `inside` maps a keyword that
    takes a mapping to the names that belong into it: one of those given as a keyword of its own is
    told where it goes. `verb` is what errors call the function, where that is not its name.
    """
    declared = {} if request is None else declared_in(request)

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        signature = _expanded(inspect.signature(function), declared)
        name_of_verb = verb or function.__name__

        @wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            _rename(kwargs, declared)
            for name in kwargs:
                if name not in signature.parameters:
                    raise _unknown(name_of_verb, name, tuple(signature.parameters), inside or {})
            try:
                bound = signature.bind(*args, **kwargs)
            except TypeError as error:
                raise DisorderError(f"{name_of_verb}: {error}") from None
            hints = typing.get_type_hints(function)
            for name, value in bound.arguments.items():
                convert = partial(_converted, name_of_verb, name, hints.get(name))
                if name in declared:
                    found = checked_value(name_of_verb, declared[name], value)
                elif signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL:
                    found = tuple(map(convert, value))
                else:
                    found = convert(value)
                bound.arguments[name] = found
            return function(*bound.args, **bound.kwargs)

        checked.__signature__ = signature  # type: ignore[attr-defined]
        checked.__doc__ = _documented(function.__doc__ or "", declared)
        return checked

    return decorate


def _rename(given: dict[str, Any], declared: Mapping[str, Declared]) -> None:
    """Give the keywords of before their new names, with a warning for one release."""
    for name, each in declared.items():
        if each.option.was in given:
            given[name] = given.pop(each.option.was)
            note = f"{each.option.was} is now written {name}; the next release takes only that"
            warnings.warn(note, DeprecationWarning, stacklevel=3)


def _unknown(
    function: str, name: str, known: tuple[str, ...], inside: Mapping[str, tuple[str, ...]]
) -> DisorderError:
    for owner, names in inside.items():
        if name in names:
            return DisorderError(f"{function}: write {name} as {owner}={{{name!r}: …}}")
    return UnknownName(f"keyword of {function}", name, known)


def _expanded(signature: inspect.Signature, declared: Mapping[str, Declared]) -> inspect.Signature:
    """The signature with every option as a keyword of its own, instead of `**options`."""
    given = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
    options = [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=each.default, annotation=each.type
        )
        for name, each in declared.items()
    ]
    return signature.replace(parameters=[*given, *options])


def _documented(text: str, declared: Mapping[str, Declared]) -> str:
    """A docstring, which ends in a line for each parameter, with one for each option."""
    if not declared:
        return text
    lines = [f"{name}: {each.help}" for name, each in declared.items()]
    return "\n".join([inspect.cleandoc(text), *lines])


def checked_value(verb: str, declared: Declared, value: Any) -> Any:
    """A value of the type that an option has; one that cannot work is an error."""
    if value is None and declared.option.default is None:
        return declared.default
    choices = declared.choices
    if declared.option.own and value is not None:
        named = own_parts(declared.option.own, value)
        value = named[0] if declared.type is str and isinstance(named, list) else named
    if choices:
        if value not in choices:
            raise BadOption(verb, need=" or ".join(choices), **{declared.name: value})
        return value
    found = _converted(verb, declared.name, declared.type, value)
    need = declared.option.check
    if need is not None and found is not None and not need.is_met(found):
        raise BadOption(verb, need=need.text, **{declared.name: found})
    return found


def _converted(verb: str, name: str, hint: Any, value: Any) -> Any:
    """A plain value (a number, a name, a list of names) in the type that is declared for it."""
    from pydantic import TypeAdapter, ValidationError

    if not _is_plain(hint):
        return value
    try:
        return TypeAdapter(hint).validate_python(value)
    except ValidationError:
        raise BadOption(verb, need=_in_words(hint), **{name: value}) from None


PLAIN = (int, float, bool, str, Path, type(None))


def _is_plain(hint: Any) -> bool:
    """Whether a type is made of numbers, names, lists of names and callbacks only."""
    if hint in PLAIN:
        return True
    origin = typing.get_origin(hint)
    if origin is typing.Literal or origin is collections.abc.Callable:
        return True
    if origin in (typing.Union, types.UnionType, collections.abc.Sequence, collections.abc.Mapping):
        return all(map(_is_plain, typing.get_args(hint)))
    return False


WORDS = {int: "a whole number", float: "a number", bool: "True or False", str: "a string"}


def _in_words(hint: Any) -> str:
    """What a parameter of this type needs."""
    origin = typing.get_origin(hint)
    if origin is typing.Literal:
        return " or ".join(map(str, typing.get_args(hint)))
    if origin in (typing.Union, types.UnionType):
        options = [option for option in typing.get_args(hint) if option is not type(None)]
        return " or ".join(dict.fromkeys(map(_in_words, options)))
    if origin is collections.abc.Sequence:
        return "a list"
    if origin is collections.abc.Mapping:
        return "a mapping"
    if origin is collections.abc.Callable:
        return "a function"
    return WORDS.get(hint, getattr(hint, "__name__", str(hint)))
