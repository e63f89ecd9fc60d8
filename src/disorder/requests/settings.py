"""Keywords become settings: a public function takes the options of its verb, checked in one place;
and the settings of an audit, as verbs and run.json hold them.

`def audit(…, **options: Unpack[AuditOptions])` shows every option in its signature and its help.
"""

from __future__ import annotations

import collections.abc
import inspect
import json
import types
import typing
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial, wraps
from pathlib import Path
from typing import Any, Literal, ParamSpec, TypeVar

from disorder.errors import BadOption, DisorderError, UnknownName, names_options, option
from disorder.registry.own import own_parts
from disorder.requests.audit import CONTINUED, DECIDED, AuditOptions, ResumeOptions
from disorder.requests.fields import AuditFields
from disorder.requests.option import Declared, View, command_line, declared_in, must_be_said
from disorder.safe_io import one_line

MOST_BY_ITSELF = 10  # variants that an audit takes where q follows from the data
DECLARED = {each.recorded_name: each for each in declared_in(AuditOptions).values()}


@dataclass(frozen=True)
class Settings(AuditFields):
    """Everything beside the model and the data."""

    @classmethod
    def among(cls, view: View, **more: Any) -> Settings:
        """The settings among those of another verb, and `more` that it settles itself."""
        values = {name: value for name, value in vars(view).items() if name in DECLARED}
        chosen = cls(**(values | more))
        chosen.check_together()
        return chosen

    @classmethod
    def recorded(cls, folder: object, settings: Mapping[str, Any], **given: Any) -> Settings:
        """The settings in a run.json, to resume it; what reaches elsewhere is `given` again."""
        for name in settings:
            if name not in DECLARED:
                raise DisorderError(
                    f"{folder} has a setting {one_line(name)!r}, which this version does not "
                    "know; resume it with the version that began it"
                )
        check_said_again(folder, AuditOptions, settings, given, partial(resume_line, folder))
        kept = {
            name: value
            for name, value in settings.items()
            if not DECLARED[name].option.named_again or value == "off"
        }
        return cls(**(kept | {name: value for name, value in given.items() if value is not None}))

    @property
    def model_options(self) -> dict[str, Any]:
        """The settings that were given for the model itself."""
        values = {name: getattr(self, name) for name, d in DECLARED.items() if d.option.for_model}
        return {
            name: value
            for name, value in values.items()
            if value not in (None, {}) and value is not False
        }

    def check_together(self) -> None:
        """Raise on values that cannot work together."""
        if not self.reads_below < self.bag_above:
            raise BadOption(
                "audit",
                reads_below=self.reads_below,
                bag_above=self.bag_above,
                need="shares between 0 and 1, the first the smaller",
            )
        if self.curtail and self.stop_when:
            raise BadOption("audit", curtail=True, stop_when=self.stop_when, need="one of the two")
        if self.stop_when and self.is_in_portions:
            raise BadOption(
                "audit",
                stop_when=self.stop_when,
                need=f"no {option('fail_if')} and no budget beside it",
            )
        if self.until == DECIDED and self.not_with_until:
            raise BadOption("audit", until=self.until, need=f"no {self.not_with_until} beside it")
        if len(set(self.prompt)) < len(self.prompt):
            raise BadOption("audit", prompt=list(self.prompt), need="each prompt once")

    @property
    def n_variants(self) -> int:
        """How many variants an example has at most, as far as that is known."""
        return self.q or MOST_BY_ITSELF

    @property
    def short_texts(self) -> Literal["skip", "use"]:
        """What becomes of examples with fewer variants than asked for."""
        return self.short or ("use" if self.q is None else "skip")

    @property
    def is_in_portions(self) -> bool:
        """Whether examples are taken in portions, since the run may end before the last."""
        return bool(self.fail_if) or self.is_limited or self.is_until_decided

    @property
    def is_limited(self) -> bool:
        """Whether there is a budget."""
        limits = (self.max_questions, self.max_tokens, self.max_cost)
        return any(limit is not None for limit in limits)

    @property
    def is_until_decided(self) -> bool:
        """Whether the conclusion is looked at while examples come."""
        return self.until in (DECIDED, CONTINUED)

    @property
    def not_with_until(self) -> str:
        """What was asked for that a run cannot stop early for; empty where there is none."""
        asked: dict[str, object] = {
            "group_by": self.group_by,
            "score": self.score,
            "curtail": self.curtail,
            "stop_when": self.stop_when,
            "fail_if": self.fail_if,
            "fidelity": self.fidelity != "natural",
            "on": self.break_ != "text",
            "prompt": len(self.prompt) > 1,
            "engine": self.engine != "local",
        }
        return next((option(name) for name, value in asked.items() if value), "")

    @property
    def may_stop(self) -> bool:
        """Whether the run may end before the last example; they come in random order then."""
        return bool(self.stop_when) or self.is_in_portions

    @property
    def prompt_options(self) -> list[str]:
        """The options of prompts that have another value than usual."""
        return [
            option(each.name)
            for name, each in DECLARED.items()
            if each.option.for_prompt and not each.is_default(getattr(self, name))
        ]


def check_said_again(
    folder: object,
    request: type,
    settings: Mapping[str, Any],
    given: Mapping[str, Any],
    again: Callable[..., str],
) -> None:
    """Raise where recorded settings name what would be run or reached, and the user does not;
    `again` is what to type with it.
    """
    for name in must_be_said(request, settings):
        if not given.get(name):
            value = settings[name]
            said = value if isinstance(value, bool) else one_line(value)
            raise DisorderError(
                f"{folder} was begun with {option(name, said)}; nothing is run or reached because "
                f"a folder says so. If you trust it, repeat it: {again(**{name: said})}"
            )


AN_OBJECT = "…"  # stands for a model that has no spec


def resume_line(folder: object, model: str = "", **options: Any) -> str:
    """What resumes an audit, as whoever reads it writes it: a command, or a line of Python."""
    if names_options():
        declared = declared_in(ResumeOptions)
        words = [word for name, value in options.items() for word in declared[name].words(value)]
        return command_line("audit", "--resume", folder, *([model] if model else []), *words)
    named = {"model": model} if model else {}
    keywords = [f"{name}={_python(value)}" for name, value in (named | options).items()]
    return f"disorder.resume({', '.join([_python(str(folder)), *keywords])})"


def _python(value: Any) -> str:
    if value == AN_OBJECT:
        return AN_OBJECT
    return json.dumps(value, ensure_ascii=False)


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
