"""An option: declared once, as `Annotated[type, Option(…)]` in the TypedDict of a verb.

The command and its help, the keywords in Python, their checks, the recorded settings, the command
that repeats or resumes a run and the reference all come from these declarations; and so does a
`View`, which has an attribute for each option, as verbs and result files hold it. fields.py makes
the views; type checkers read them in fields.pyi, which `make reference` writes.
"""

from __future__ import annotations

import json
import shlex
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, make_dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from disorder.errors import DisorderError, option
from disorder.specs import listed, parse_list, parse_pairs


@dataclass(frozen=True)
class Need:
    """What a value must fulfil, and how an error says it."""

    text: str
    is_met: Callable[[Any], bool]


@dataclass(frozen=True)
class Option:
    """What is known of an option beside its name and type.

    `flags` are its spellings on the command line where they do not follow from the keyword, the
    usual one first. `recorded_as` is its name in result files where that is another.
    """

    help: str
    default: Any = None
    group: str = ""
    check: Need | None = None
    choices: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    recorded_as: str = ""
    was: str = ""  # the keyword of before, still accepted with a note, as is its spelling
    is_common: bool = False  # shown by --help, not only by --help-all
    is_always_said: bool = False  # in the command that repeats a run, even where it is the default
    is_implied: bool = False  # in no command that repeats a run: another option says it
    for_model: bool = False  # passed to the loader of the model, where that takes it
    for_prompt: bool = False  # says how a language model is asked
    own: str = ""  # the kind of part that a function of the user's, or FILE.py:FUNCTION, can be
    changes_predictions: bool = True
    # "may" and "must": what a run reaches or writes beside its own folder. Only the user says so,
    # never the folder: a resumed run is given it again.
    named_again: Literal["", "may", "must"] = ""


@dataclass(frozen=True)
class HeldAs:
    """How values of a type are held, whichever way they were given."""

    held: Any  # the type inside of verbs and result files
    convert: Callable[[str, Any], Any]
    default: Any = None
    is_repeated: bool = False  # on the command line
    join: Callable[[Any], str] = str  # as it is typed


def _pairs(name: str, given: Mapping[str, Any] | str | None) -> dict[str, Any]:
    """A mapping, or the pairs of `a=b,c=d`."""
    if not isinstance(given, str):
        return dict(given or {})
    return parse_pairs(given, form=f"{option(name, given)}: write it as name=name,name=name")


def _by_spec(name: str, given: Mapping[str, str] | str | None) -> dict[str, str]:
    """The same by specs of transformations, whose settings are written with `=` as well."""
    if not isinstance(given, str):
        return {spec: str(each) for spec, each in (given or {}).items()}
    form = f"{option(name, given)}: write it as derange=NAME"
    return parse_pairs(given, form=form, is_at_last=True)


def _assigned(name: str, given: Mapping[str, Any] | Sequence[str] | None) -> dict[str, Any]:
    """A mapping, or a list of `name=value`."""
    if isinstance(given, Mapping):
        return dict(given)
    pairs: dict[str, Any] = {}
    for item in listed(given):
        form = f"{option(name, item)}: write it as name=value"
        pairs |= parse_pairs([item], form=form)
    return pairs


def _joined_pairs(pairs: Mapping[str, Any]) -> str:
    return ",".join(f"{key}={value}" for key, value in pairs.items())


def _joined_fields(fields: Mapping[str, Any]) -> str:
    """The same of values as JSON, as which they are read."""
    written = {name: x if isinstance(x, str) else json.dumps(x) for name, x in fields.items()}
    return _joined_pairs(written)


def _texts(given: str | Path | Sequence[str | Path] | None) -> list[str]:
    given = [given] if isinstance(given, str | Path) else given or ()
    return [str(each) for each in given]


def _text(name: str, given: object) -> str | None:
    return None if given is None else str(given)


def _thresholds(name: str, given: str | float | Sequence[str | float]) -> list[str]:
    """Thresholds as they are written in the names of scores."""
    values = [given] if isinstance(given, float) else given
    return [str(x) for x in (parse_list(values) if isinstance(values, str) else values)]


# the types that have a form: what a user may give
Names = Annotated[
    str | Sequence[str],
    HeldAs(Sequence[str], lambda name, given: listed(given), default=(), is_repeated=True),
]
Pairs = Annotated[
    Mapping[str, str] | str | None, HeldAs(Mapping[str, str], _pairs, join=_joined_pairs)
]
Fields = Annotated[
    Mapping[str, Any] | str | None, HeldAs(Mapping[str, Any], _pairs, join=_joined_fields)
]
BySpec = Annotated[
    Mapping[str, str] | str | None, HeldAs(Mapping[str, str], _by_spec, join=_joined_pairs)
]
Listed = Annotated[
    str | Sequence[str],
    HeldAs(Sequence[str], lambda name, given: parse_list(given), default=(), join=",".join),
]
Specs = Annotated[
    str | Path | Sequence[str | Path] | None,
    HeldAs(Sequence[str], lambda name, given: _texts(given), is_repeated=True),
]
Assigned = Annotated[
    Mapping[str, Any] | Sequence[str] | None,
    HeldAs(Mapping[str, Any], _assigned, is_repeated=True),
]
OneName = Annotated[
    str | None, HeldAs(Sequence[str], lambda name, given: listed(given), join=" ".join)
]
Place = Annotated[str | Path | None, HeldAs(str | None, _text)]
Thresholds = Annotated[
    str | float | Sequence[str | float],
    HeldAs(Sequence[str], _thresholds, default=(), join=",".join),
]


@dataclass(frozen=True)
class Declared:
    """One option of a verb: its keyword, its type and what was declared."""

    name: str
    type: Any
    option: Option
    form: HeldAs | None
    flags: tuple[str, ...]  # its spellings on the command line
    recorded_name: str  # in result files and inside of verbs
    default: Any  # the value that a user need not give
    choices: tuple[str, ...]  # the values there are, where they can be counted
    is_repeated: bool  # whether the command line takes it several times

    @property
    def held_type(self) -> Any:
        """The type of its value inside of verbs."""
        return self.form.held if self.form else self.type

    @property
    def recorded_type(self) -> Any:
        """The type of its value in result files; another version may know more choices."""
        return str | None if self.choices else self.held_type

    @property
    def help(self) -> str:
        """What it is for, with its default."""
        usual = self.option.default
        if usual is None or isinstance(usual, bool):
            return self.option.help
        return f"{self.option.help} [{', '.join(usual) if isinstance(usual, tuple) else usual}]"

    def held(self, given: Any) -> Any:
        """A value as verbs and result files hold it."""
        return self.form.convert(self.name, given) if self.form else given

    def is_default(self, held: Any) -> bool:
        """Whether a user need not have said this; an empty list is as good as another."""
        usual = self.held(self.default)
        return bool(held == usual) or (not held and not usual)

    def words(self, value: Any) -> list[str]:
        """A value as it is typed."""
        flag = self.flags[0]
        if isinstance(value, bool):
            return [flag] if value else []
        if self.is_repeated:
            items = value
            if isinstance(value, Mapping):
                items = [f"{key}={each}" for key, each in value.items()]
            return [word for item in items for word in (flag, str(item))]
        return [flag, self.form.join(value) if self.form else str(value)]


def _literals(hint: Any) -> Iterable[str]:
    """The values of a Literal, also where it may be None."""
    if typing.get_origin(hint) is Literal:
        yield from typing.get_args(hint)
    elif typing.get_origin(hint) in (typing.Union, types.UnionType):
        for each in typing.get_args(hint):
            yield from _literals(each)


def declared_in(request: type) -> dict[str, Declared]:
    """The options of a verb by keyword, in the order of their declaration."""
    return dict(_declared(request))


@lru_cache(maxsize=64)
def _declared(request: type) -> tuple[tuple[str, Declared], ...]:
    hints = typing.get_type_hints(request, include_extras=True)
    return tuple((name, _one(name, hint)) for name, hint in hints.items())


def _one(name: str, hint: Any) -> Declared:
    base, *extras = typing.get_args(hint)
    option = next((each for each in extras if isinstance(each, Option)), None)
    form = next((each for each in extras if isinstance(each, HeldAs)), None)
    if option is None:
        raise DisorderError(f"{name} is declared without an Option")
    spellings = (name, option.was) if option.was else (name,)
    return Declared(
        name,
        base,
        option,
        form,
        flags=option.flags or tuple(f"--{n.strip('_').replace('_', '-')}" for n in spellings),
        recorded_name=option.recorded_as or name,
        default=form.default if option.default is None and form else option.default,
        choices=option.choices or (() if form else tuple(_literals(base))),
        is_repeated=form is not None and form.is_repeated,
    )


def at_least(least: int) -> Need:
    """A number that is not below this."""
    return Need(f"{least} or more", lambda value: value >= least)


NOT_NEGATIVE = Need("0 or more", lambda value: 0 <= value < float("inf"))


class View:
    """What was asked, with the defaults of what was not said."""

    request: ClassVar[type]

    @classmethod
    def of(cls, options: Mapping[str, object], **more: Any) -> Self:
        """The view of options as a verb was given them, with `more` that it has beside them."""
        chosen = cls(**held(cls.request, options), **more)
        chosen.check_together()
        return chosen

    def check_together(self) -> None:
        """Raise on values that cannot work together."""


def view_of(request: type, name: str) -> type[View]:
    """The view of a request: a frozen dataclass."""
    entries = [
        (
            each.recorded_name,
            each.recorded_type,
            field(default_factory=partial(each.held, each.default)),
        )
        for each in declared_in(request).values()
    ]
    return make_dataclass(name, entries, bases=(View,), namespace={"request": request}, frozen=True)


def held(request: type, options: Mapping[str, object]) -> dict[str, Any]:
    """The options that were given, as a view holds them."""
    declared = declared_in(request)
    return {
        declared[name].recorded_name: declared[name].held(value) for name, value in options.items()
    }


def command_line(verb: str, *words: object) -> str:
    """What to type; every word is quoted where a shell needs it."""
    return shlex.join(["disorder", verb, *map(str, words)])


def changed(request: type, recorded: Mapping[str, Any]) -> list[str]:
    """The options that say how recorded settings differ from the defaults."""
    words = []
    for each in declared_in(request).values():
        value = recorded.get(each.recorded_name)
        if value is None or each.option.is_implied:
            continue
        if each.option.is_always_said or not each.is_default(value):
            words += each.words(value)
    return words


def must_be_said(request: type, recorded: Mapping[str, Any]) -> list[str]:
    """The options among recorded ones that must be said again when a run is resumed."""
    return [
        name
        for name, each in declared_in(request).items()
        if each.option.named_again == "must" and recorded.get(each.recorded_name)
    ]


def must_be_named(spec: str) -> bool:
    """Whether loading a model runs code or reaches another machine: only the user may say so."""
    from disorder.registry import ModelPart, parts

    entry = parts(ModelPart).get(spec.partition(":")[0])
    return bool(spec) and (entry is None or not entry.only_reads)
