"""The array of predictions, kept in memory, or in a temporary file where it would be large."""

from __future__ import annotations

import tempfile

import numpy as np

from disorder.types import Bools, Floats

LARGE = 64 * 1024**2  # bytes above which predictions are kept in a file
PART = 256  # examples moved at a time


def empty_array(shape: tuple[int, int, int]) -> Floats:
    """An array for predictions, NaN so far."""
    if 4 * shape[0] * shape[1] * shape[2] <= LARGE:
        return np.full(shape, np.nan, dtype=np.float32)
    with tempfile.TemporaryFile() as file:  # the mapping keeps the file alive
        array: Floats = np.memmap(file, dtype=np.float32, shape=shape)
    array[:] = np.nan
    return array


def compacted(predictions: Floats, used: Bools) -> Floats:
    """The predictions of the used examples, moved up in place: a copy could be too large.

    >>> compacted(np.array([[1.0], [2.0], [3.0]]), np.array([True, False, True])).tolist()
    [[1.0], [3.0]]
    """
    rows = np.flatnonzero(used)
    if len(rows) < len(predictions):
        # rows only move up, so that none is overwritten before it has moved
        for start in range(0, len(rows), PART):
            part = rows[start : start + PART]
            predictions[start : start + len(part)] = predictions[part]
    return predictions[: len(rows)]
