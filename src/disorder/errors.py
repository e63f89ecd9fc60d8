"""Errors: every mistake a user can make is a `DisorderError` with one clear line.

Messages name what to change by `option("limit")`: an option on the command line (`--limit`), a
keyword in Python (`limit`).
"""

from __future__ import annotations

import difflib
import json
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit


class DisorderError(Exception):
    """The user's mistake: the command line prints the message alone and exits with code 2."""


class BadSetting(DisorderError):
    """A setting of a part has a value that cannot work."""

    def __init__(self, part: str, *, need: str, **got: object) -> None:
        settings = ", ".join(f"{name}={value!r}" for name, value in got.items())
        super().__init__(f"{part}: {settings} does not work; need {need}")


class BadOption(BadSetting):
    """An option of a verb has a value that cannot work."""

    def __init__(self, verb: str, *, need: str, **got: object) -> None:
        options = ", ".join(option(name, value) for name, value in got.items())
        DisorderError.__init__(self, f"{verb}: {options} does not work; need {need}")


class UnknownName(DisorderError):
    """A name that nothing is registered or known under; `more` says what may be the reason."""

    def __init__(self, kind: str, name: str, known: Iterable[str], *more: str) -> None:
        names = sorted(known)
        hint = meant(name, names) or f"known: {', '.join(names)}"
        told = "".join(f" ({reason})" for reason in more)
        super().__init__(f"unknown {kind} {name!r}; {hint}{told}")


def meant(name: str, names: Sequence[str]) -> str:
    """What may have been meant by a name that is none of these; empty where nothing is like it.

    >>> meant("Teams", ["Team", "Priority"])
    "did you mean 'Team'?"
    """
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    return f"did you mean {close[0]!r}?" if close else ""


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


# Whether whoever reads errors typed options, as on the command line, and not keywords. Of the whole
# process, since a model may raise in a thread of its own.
_options_are_meant = False


@contextmanager
def naming_options() -> Iterator[None]:
    """Inside this, errors name options, as on the command line."""
    global _options_are_meant
    before = _options_are_meant
    _options_are_meant = True
    try:
        yield
    finally:
        _options_are_meant = before


def names_options() -> bool:
    """Whether errors name options, as on the command line, and not keywords of Python."""
    return _options_are_meant


def option(keyword: str, value: object = ...) -> str:
    """An option, and its value if there is one, as whoever reads the error writes it.

    >>> option("data_dir"), option("limit", 0), option("columns", "NAME=label")
    ('data_dir', 'limit=0', "columns='NAME=label'")
    >>> with naming_options():
    ...     option("data_dir"), option("limit", 0), option("with_", ["sort", "a b"])
    ('--data-dir', '--limit 0', "--with sort --with 'a b'")
    """
    value = str(value) if isinstance(value, Path) else value
    if not _options_are_meant:
        return keyword if value is ... else f"{keyword}={value!r}"
    flag = f"--{keyword.strip('_').replace('_', '-')}"
    if value is ... or value is True:
        return flag
    if isinstance(value, Mapping):
        value = [f"{name}={each}" for name, each in value.items()]
    values = value if isinstance(value, list | tuple) else [value]
    return " ".join(f"{flag} {shlex.quote(str(each))}" for each in values)
