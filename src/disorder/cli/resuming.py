"""How to resume a command that was stopped: what to type, once there is something to resume."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

# of verbs that write at their end, or only print
AGAIN = "nothing of it is kept: type the command again"


@dataclass(frozen=True)
class Resumable:
    """A command under way that can be resumed as soon as `marker` is in `folder`."""

    folder: str | Path
    marker: str
    command: str

    @property
    def advice(self) -> str:
        """What to type, or that nothing is there yet."""
        from disorder.store.storage import place

        if (place(self.folder) / self.marker).exists():
            return f"what is done is in {self.folder}; resume it: {self.command}"
        return f"nothing was written to {self.folder} yet: type the command again"


_under_way: list[Resumable] = []
_typed: list[str] = []


def start(arguments: list[str] | None) -> None:
    """Remember what was typed; nothing is under way yet."""
    _under_way.clear()
    _typed[:] = sys.argv[1:] if arguments is None else arguments


@contextmanager
def resumable(folder: str | Path, marker: str, command: str = "") -> Iterator[None]:
    """While this is under way, a stop says how to resume; without a `command`, by what was typed
    with the same --out.
    """
    entry = Resumable(folder, marker, command or _again(folder))
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
