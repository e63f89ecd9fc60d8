"""Standard output: a command's own, for as long as it runs; what a model's code or a library prints
meanwhile goes to standard error.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

_owned: list[TextIO] = []


def standard_output() -> TextIO:
    """Where results are written: standard output, also inside `owned_standard_output`."""
    return _owned[-1] if _owned else sys.stdout


@contextmanager
def owned_standard_output() -> Iterator[None]:
    """Send to standard error what is printed without `standard_output`.

    For a whole process, whatever its threads do: used once, around a command.
    """
    own = sys.stdout
    _owned.append(own)
    sys.stdout = sys.stderr
    try:
        yield
    finally:
        sys.stdout = own
        _owned.pop()
