"""Where do the answers of an audit wait until they are measured? In memory, or in a file where they
would be large.
"""

from __future__ import annotations

import tempfile

import numpy as np

from disorder.types import Bools, Floats

LARGE = 64 * 1024**2  # bytes of answers above which they are kept in a file
PART = 256  # examples moved at a time


def room(shape: tuple[int, int, int]) -> Floats:
    """Room for answers, NaN so far."""
    if 4 * shape[0] * shape[1] * shape[2] <= LARGE:
        return np.full(shape, np.nan, dtype=np.float32)
    with tempfile.TemporaryFile() as file:  # the mapping keeps the file alive
        array: Floats = np.memmap(file, dtype=np.float32, shape=shape)
    array[:] = np.nan
    return array


def together(answers: Floats, used: Bools) -> Floats:
    """The answers of the used examples, moved up in place: a copy could be too large for the
    memory.

    >>> together(np.array([[1.0], [2.0], [3.0]]), np.array([True, False, True])).tolist()
    [[1.0], [3.0]]
    """
    rows = np.flatnonzero(used)
    if len(rows) < len(answers):
        for start in range(
            0, len(rows), PART
        ):  # rows only move up, so none is overwritten before it has moved
            part = rows[start : start + PART]
            answers[start : start + len(part)] = answers[part]
    return answers[: len(rows)]
