"""The array of predictions, kept in memory, or in a temporary file where it would be large."""

from __future__ import annotations

import os
import shutil
import tempfile

import numpy as np

from disorder.errors import DisorderError
from disorder.types import Bools, Floats

LARGE = 64 * 1024**2  # bytes above which predictions are kept in a file
GB = 1024**3
PART = 256  # examples moved at a time


def empty_array(shape: tuple[int, int, int]) -> Floats:
    """An array for predictions, NaN so far."""
    if 4 * shape[0] * shape[1] * shape[2] <= LARGE:
        return np.full(shape, np.nan, dtype=np.float32)
    n_bytes = 4 * shape[0] * shape[1] * shape[2]
    folder = tempfile.gettempdir()
    free = shutil.disk_usage(folder).free
    if n_bytes > free:
        raise no_room(n_bytes, folder, f"there are {free / GB:.1f} free")
    try:
        with tempfile.TemporaryFile() as file:  # the mapping keeps the file alive
            _reserve(file.fileno(), n_bytes)
            array: Floats = np.memmap(file, dtype=np.float32, shape=shape)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise no_room(n_bytes, folder, str(why)) from None
    array[:] = np.nan
    return array


def _reserve(descriptor: int, n_bytes: int) -> None:
    """Take the room now: a mapped file that runs out of it later ends the process."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, 0, n_bytes)
    else:
        os.truncate(descriptor, n_bytes)


def no_room(n_bytes: int, folder: str, why: str) -> DisorderError:
    """The line for predictions that there is no room for."""
    return DisorderError(
        f"the predictions of one transformation need {n_bytes / GB:.1f} GB in {folder} ({why}); "
        "use fewer examples (--limit), a smaller --q, or set TMPDIR to a larger disk"
    )


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
