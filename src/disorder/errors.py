"""Errors: every mistake a user can make is a `DisorderError` with one clear line.

Messages name what to change by its option (`--limit`); whoever calls from Python reads the keyword
instead (`limit=`).
"""

from __future__ import annotations

import collections.abc
import difflib
import inspect
import json
import keyword
import re
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar
from urllib.parse import unquote, urlsplit

P = ParamSpec("P")
R = TypeVar("R")


class DisorderError(Exception):
    """The user's mistake: the command line prints the message alone and exits with code 2."""


class BadSetting(DisorderError):
    """A setting of a part has a value that cannot work."""

    def __init__(self, part: str, *, need: str, **got: object) -> None:
        settings = ", ".join(f"{name}={value!r}" for name, value in got.items())
        super().__init__(f"{part}: {settings} does not work; need {need}")


class UnknownName(DisorderError):
    """A name that nothing is registered or known under."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
        hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(names)}"
        super().__init__(f"unknown {kind} {name!r}; {hint}")


class BadData(DisorderError):
    """Data that cannot be read."""


class BadModel(DisorderError):
    """A model that cannot be loaded, or does not fit the data."""


class ModelStopped(DisorderError):
    """A model that worked and then stopped, such as a server that went away: what it predicted is
    kept, and the run can be resumed.
    """


class NothingToMeasure(DisorderError):
    """A score has no example to be measured on."""


class MissingPackage(DisorderError):
    """A part needs an optional package that is not installed."""

    def __init__(self, part: str, package: str, extra: str) -> None:
        super().__init__(f"{part} needs the package {package!r}: {install_command(extra)}")


def install_command(extra: str) -> str:
    """The command that installs an extra, wherever disorder itself was installed from.

    From a clone or another folder it names that folder, from a repository its address, else the
    package index.
    """
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        record = distribution("disorder").read_text("direct_url.json")
    except PackageNotFoundError:
        record = None
    return _install_command(extra, json.loads(record) if record else {})


def _install_command(extra: str, origin: Mapping[str, Any]) -> str:
    """`origin` is what pip recorded about where a package came from (PEP 610)."""
    url = str(origin.get("url", ""))
    if "vcs_info" in origin:
        return f'pip install "disorder[{extra}] @ {origin["vcs_info"]["vcs"]}+{url}"'
    if "dir_info" in origin:
        folder = Path(unquote(urlsplit(url).path))
        return f'pip install -c "{folder / "constraints.txt"}" "{folder}[{extra}]"'
    if url:
        return f'pip install "disorder[{extra}] @ {url}"'
    return f'pip install "disorder[{extra}]"'


class CannotWrite(DisorderError):
    """There is no room or no right for a file; what is finished is kept, so that it can be resumed
    once there is.
    """


class Lacking(DisorderError):
    """What a request needs, and neither names nor finds."""


class MissingData(DisorderError):
    """A part needs data or a model of an installed package that is not there."""


class DoesNotApply(Exception):
    """A part cannot be used on this example, which is skipped and counted under the reason; never
    shown as a failure.
    """


_options_are_meant: ContextVar[bool] = ContextVar("options are meant", default=False)
# what stands for an option in Python, where it is not its own name
KEYWORDS = {"set": "settings"}
COMMAND = re.compile(r"\bdisorder [a-z]+ ")  # a command to type stays as it is
PAIR = re.compile(r"(?<![\w-])--(columns) (\w+=\w+)")  # an example to copy
RESUMED = re.compile(r"--resume (\S+)")
RESUMING = re.compile(r"(?<=resume it: )disorder audit --resume (\S+)(?: ([^\s-]\S*))?$")
# not inside a name of a folder, which may have two dashes
OPTION = re.compile(
    r"(?<![\w-])--([a-z]+(?:-[a-z]+)*)(?: (?=[\w'\"/.~{])(?!(?:or|nor|and|to|is|for)\b))?"
)


@contextmanager
def naming_options() -> Iterator[None]:
    """Inside this, errors of public functions name options, as on the command line."""
    token = _options_are_meant.set(True)
    try:
        yield
    finally:
        _options_are_meant.reset(token)


def with_keywords(message: str) -> str:
    """A message in the words of Python: keywords for options.

    >>> with_keywords("--limit 0: need 1 or more; choose another --out")
    'limit=0: need 1 or more; choose another out'
    >>> with_keywords("say which one it is: --columns NAME=label")
    'say which one it is: columns="NAME=label"'
    >>> with_keywords("runs/mine--mnli is no run")
    'runs/mine--mnli is no run'
    >>> with_keywords("resume it: disorder audit --resume runs/x python:mine:model")
    'resume it: disorder.resume("runs/x", model="python:mine:model")'
    """
    message = RESUMING.sub(_resumed, message)
    command = COMMAND.search(message)
    end = command.start() if command else len(message)
    said = RESUMED.sub(r'disorder.resume("\1")', message[:end])
    said = PAIR.sub(r'--\1 "\2"', said)
    return OPTION.sub(_keyword, said) + message[end:]


def _resumed(command: re.Match[str]) -> str:
    """The function for a command that resumes; a model that is no spec is an object there."""
    folder, model = command.groups()
    if model is None:
        return f'disorder.resume("{folder}")'
    named = f'"{model}"' if ":" in model else "…"
    return f'disorder.resume("{folder}", model={named})'


def _keyword(option: re.Match[str]) -> str:
    name = option[1].replace("-", "_")
    name = KEYWORDS.get(name, name) + ("_" if keyword.iskeyword(name) else "")
    return f"{name}=" if option[0].endswith(" ") else name


def check_keywords(
    inside: Mapping[str, tuple[str, ...]] | None = None,
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a public function so that an unknown keyword raises `UnknownName`.

    `inside` maps a keyword that takes a mapping to the names that belong into it: one of those
    given as a keyword of its own is told where it goes. Signature and types stay as they are.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)
        known = tuple(signature.parameters)

        @wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            for name in kwargs:
                if name not in known:
                    raise _unknown(function.__name__, name, known, inside or {})
            try:
                bound = signature.bind(*args, **kwargs)
            except TypeError as error:
                raise DisorderError(f"{function.__name__}: {error}") from None
            convert_arguments(function, bound.arguments)
            try:
                return function(*bound.args, **bound.kwargs)
            except DisorderError as error:
                if not _options_are_meant.get():
                    error.args = (with_keywords(str(error)),)
                raise

        return checked

    return decorate


def convert_arguments(function: Callable[..., Any], arguments: dict[str, Any]) -> None:
    """Convert plain arguments (numbers, names, lists of names) to the types that a function
    declares, in place; one that cannot be is a `BadSetting`.
    """
    from pydantic import TypeAdapter, ValidationError

    hints = typing.get_type_hints(function)
    for name, value in arguments.items():
        hint: Any = hints.get(name)
        if not _is_plain(hint):
            continue
        try:
            arguments[name] = TypeAdapter(hint).validate_python(value)
        except ValidationError:
            raise BadSetting(function.__name__, need=_in_words(hint), **{name: value}) from None


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


def _unknown(
    function: str, name: str, known: tuple[str, ...], inside: Mapping[str, tuple[str, ...]]
) -> DisorderError:
    for owner, names in inside.items():
        if name in names:
            return DisorderError(f"{function}: write {name} as {owner}={{{name!r}: …}}")
    return UnknownName(f"keyword of {function}", name, known)
