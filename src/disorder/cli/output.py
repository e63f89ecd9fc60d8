"""Output of commands: the one place that prints. While a command runs, what a model's code, a
library or a child process prints goes to standard error.

Nothing untrusted reaches a terminal raw, a stream that is not UTF-8 gets plain letters, and a pipe
that nobody reads is no failure.
"""

from __future__ import annotations

import codecs
import io
import json
import os
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TextIO

from disorder.safe_io import visible, visible_json

if TYPE_CHECKING:
    from rich.console import Console

    from disorder.results.result import Result

PLAIN = "disorder-plain"  # name of the handler of characters that a stream cannot take
PLAIN_LETTERS = {
    "–": "-",
    "−": "-",
    "—": "-",
    "…": "...",
    "×": "x",
    "÷": "/",
    "≤": "<=",
    "≥": ">=",
    "→": "->",
    "←": "<-",
    "Ω": "Omega",
    "Δ": "Delta",
    "·": "-",
    "’": "'",
    "‘": "'",
    "“": '"',
    "”": '"',
    "⟨": "<",
    "⟩": ">",
    "✅": "ok",
    "❌": "failed",
    "█": "#",
    "─": "-",
    "━": "-",
    "\u00a0": " ",
    "\u202f": " ",
    "\u2009": " ",
}

_owned: list[TextIO] = []


def standard_output() -> TextIO:
    """Where results are written: standard output, also inside `owned_standard_output`."""
    return _owned[-1] if _owned else sys.stdout


@contextmanager
def owned_standard_output() -> Iterator[None]:
    """Send to standard error what is printed without `standard_output`, also by code that knows
    nothing of Python's streams.

    For a whole process, whatever its threads do: used once, around a command.
    """
    before = sys.stdout
    with _moved(before) as own:
        _owned.append(own)
        sys.stdout = sys.stderr
        try:
            yield
        finally:
            sys.stdout = before
            _owned.pop()


@contextmanager
def _moved(stream: TextIO) -> Iterator[TextIO]:
    """The stream on a descriptor of its own, while its old one leads to standard error; as it is
    where one of them is no file, as in a test.
    """
    try:
        number, errors = stream.fileno(), sys.stderr.fileno()
    except (OSError, ValueError):
        yield stream
        return
    stream.flush()
    own = os.fdopen(os.dup(number), "w", encoding=stream.encoding, errors=stream.errors)
    if isinstance(stream, io.TextIOWrapper) and isinstance(own, io.TextIOWrapper):
        own.reconfigure(line_buffering=stream.line_buffering, write_through=stream.write_through)
    os.dup2(errors, number)
    try:
        yield own
    except BaseException:  # which says more than a pipe that nobody reads
        os.dup2(own.fileno(), number)
        with suppress(OSError):
            own.close()
        raise
    os.dup2(own.fileno(), number)
    own.close()


def console(*, stderr: bool = False, **more: Any) -> Console:
    """A console for tables and coloured lines."""
    from disorder.results.terminal import SafeConsole

    if stderr:
        return SafeConsole(file=Unhurried(sys.stderr), **more)
    return SafeConsole(file=standard_output(), **more)


def print_text(text: object = "", *, is_error: bool = False, end: str = "\n") -> None:
    """One line, or several, on standard output or standard error."""
    if is_error:
        Unhurried(sys.stderr).write(f"{visible(text)}{end}")
    else:
        standard_output().write(f"{visible(text)}{end}")


def print_data(text: str) -> None:
    """Data for another program, as UTF-8, whatever the terminal's letters are."""
    stream = standard_output()
    if stream.isatty():
        stream.write(visible(text))
        return
    stream.flush()
    stream.buffer.write(text.encode("utf-8", "backslashreplace"))


def announce(line: str) -> None:
    """One line at once: what is said while a server goes on."""
    print_text(line)
    standard_output().flush()


def show(
    result: Result,
    written: Sequence[str] = (),
    *,
    is_all: bool = False,
    is_error: bool = False,
) -> None:
    """A result, and lines that say where its files are."""
    from disorder.results.render import render

    wanted = console(stderr=is_error)
    wanted.file.write(render(result, "terminal", console=wanted, written=written, is_all=is_all))


def print_json(value: Any, *, indent: int | None = None) -> None:
    """One JSON value, which every stream can take and no terminal obeys."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    stream = standard_output()
    try:
        text.encode(stream.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(value, indent=indent)
    stream.write(f"{visible_json(text)}\n")


class Unhurried(io.TextIOBase):
    """Standard error for progress and news: whether anybody reads them changes no result."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Write, if that can be."""
        try:
            return self.stream.write(text)
        except (OSError, ValueError):  # a closed pipe, a full disk, a closed stream
            return len(text)

    def flush(self) -> None:
        """Flush, if that can be."""
        try:
            self.stream.flush()
        except (OSError, ValueError):
            return

    def isatty(self) -> bool:
        """Whether a person sees it."""
        return self.stream.isatty()

    def fileno(self) -> int:
        """The file behind it."""
        return self.stream.fileno()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """How letters are written."""
        return self.stream.encoding or "utf-8"


@contextmanager
def output_may_be_unread() -> Iterator[None]:
    """Inside this a closed pipe is no failure: what matters was decided or written before."""
    try:
        yield
        standard_output().flush()
    except BrokenPipeError:
        silence_output()


def silence_output() -> None:
    """Send what is still to be printed nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, standard_output().fileno())
    except (OSError, ValueError):  # standard output is no file, as in a test
        return
    finally:
        os.close(nowhere)


def open_missing_streams() -> None:
    """Let a standard stream that was closed before the start lead nowhere.

    Python has no such stream then; and the next file that is opened would take its number, so that
    what a library prints there would go into that file. Where a file has the number already, the
    stream gets another.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            number = os.open(os.devnull, os.O_RDWR)  # the lowest free one: the stream's, if it is
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))


def degrade_streams() -> None:
    """Let a stream that is not UTF-8 get the nearest plain letters instead of failing."""
    codecs.register_error(PLAIN, _plain_letters)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=PLAIN)


def _plain_letters(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    given = error.object[error.start : error.end]
    return "".join(map(_plain_letter, given)), error.end


def _plain_letter(char: str) -> str:
    if char in PLAIN_LETTERS:
        return PLAIN_LETTERS[char]
    simple = unicodedata.normalize("NFKD", char).encode("ascii", "ignore").decode()
    if 0x2400 <= ord(char) < 0x2420:  # a control character that was made visible
        simple = f"<U+{ord(char) - 0x2400:04X}>"
    return simple or char.encode("ascii", "backslashreplace").decode()
