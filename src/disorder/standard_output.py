"""Standard output: a command's own, for as long as it runs; what a model's code, a library or a
child process prints meanwhile goes to standard error.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

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
