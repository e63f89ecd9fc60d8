"""Folders and files of commands: a new folder where none is named, what to type to resume a command
that was stopped, files that an option names.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import count
from pathlib import Path

from disorder.errors import CannotWrite, DisorderError, naming_options
from disorder.store.storage import make_folder, short_name, sync_folder

_new_folders: list[Path] = []


def new_folder(model: str, data: str, home: str = "runs") -> Path:
    """A new folder whose name says what was made of which data and when."""
    words = [Path(spec).name.split(".")[0] if "/" in spec else spec for spec in (model, data)]
    name = "-".join(
        "".join(char if char.isalnum() else "-" for char in word).strip("-") for word in words
    )
    first = Path(home) / f"{datetime.now():%Y%m%d-%H%M%S}-{short_name(name)}"
    for number in count(1):
        folder = first if number == 1 else first.with_name(f"{first.name}-{number}")
        try:
            make_folder(folder.parent)
            folder.mkdir()  # in one step: another command may have taken the name just now
            sync_folder(folder.parent)
        except FileExistsError:
            continue
        except OSError as error:
            raise DisorderError(f"{folder} cannot be made ({error.strerror or error})") from None
        _new_folders.append(folder)
        return folder
    raise AssertionError("numbers do not end")


def remove_empty_folders() -> None:
    """Remove the folders that were made for a command which then wrote nothing."""
    while _new_folders:
        folder = _new_folders.pop()
        for each in (folder, folder.parent):
            try:
                each.rmdir()
            except OSError:  # something is in it
                break


# of verbs that write at their end, or only print
AGAIN = "nothing of it is kept: type the command again"


@dataclass(frozen=True)
class Resumable:
    """A command under way that can be resumed as soon as `marker` is in `folder`."""

    folder: str | Path
    marker: str
    command: Callable[[], str]

    @property
    def advice(self) -> str:
        """What to type, or that nothing is there yet."""
        from disorder.store.storage import place

        if (place(self.folder) / self.marker).exists():
            with naming_options():
                return f"what is done is in {self.folder}; resume it: {self.command()}"
        return f"nothing was written to {self.folder} yet: type the command again"


_under_way: list[Resumable] = []
_typed: list[str] = []


def start(arguments: list[str] | None) -> None:
    """Remember what was typed; nothing is under way yet."""
    _under_way.clear()
    _typed[:] = sys.argv[1:] if arguments is None else arguments


@contextmanager
def resumable(
    folder: str | Path, marker: str, command: Callable[[], str] | None = None
) -> Iterator[None]:
    """While this is under way, a stop says how to resume; without a `command`, by what was typed
    with the same --out.
    """
    entry = Resumable(folder, marker, command or partial(_again, folder))
    _under_way.append(entry)
    yield
    _under_way.remove(entry)  # not where it failed: `main` still asks for the advice


def advice() -> str:
    """How to resume what was stopped; empty where it cannot be."""
    return _under_way[0].advice if _under_way else ""


def _again(folder: str | Path) -> str:
    """What was typed, with the folder that was used."""
    words = ["disorder", *_typed]
    if not any(word == "--out" or word.startswith("--out=") for word in words):
        words += ["--out", str(folder)]
    return shlex.join(words)


def write(option: str, path: Path, text: str) -> None:
    """Write a file as UTF-8; half a character, which it cannot hold, is written as its number."""
    from disorder.store.storage import write_named_file

    try:
        write_named_file(path, text.encode("utf-8", "backslashreplace"))
    except CannotWrite as error:
        raise CannotWrite(f"{option} {error}") from None
