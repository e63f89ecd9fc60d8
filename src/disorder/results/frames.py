"""Records as a data frame, by whichever of pandas and polars is installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from disorder.errors import DisorderError

LIBRARIES = ("pandas", "polars")


def data_frame(rows: Sequence[Mapping[str, Any]]) -> Any:
    """The rows as a pandas data frame, or a polars one where only polars is installed."""
    for name in LIBRARIES:
        if find_spec(name) is not None:
            return import_module(name).DataFrame(list(rows))
    raise DisorderError("to_frame needs pandas or polars: pip install pandas")
