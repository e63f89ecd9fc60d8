"""Datasets of the Hugging Face hub, or local folders that `datasets` can read; streamed."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from numbers import Integral
from pathlib import Path
from typing import Any

from disorder.data.examples import SourceRow
from disorder.errors import BadData, MissingPackage
from disorder.registry import data
from disorder.store.hub import hub_access


@data(form="hf:NAME[/CONFIG]:SPLIT", needs="datasets")
def hf(address: str) -> Iterator[SourceRow]:
    """A dataset of the Hugging Face hub, or a local copy; usual names of text columns are known."""
    dataset = _load(address)
    try:
        for number, row in enumerate(dataset, start=1):
            yield f"row {number}", with_class_names(row, dataset.features)
    except (ValueError, OSError, UnicodeDecodeError) as error:
        raise BadData(f"hf:{address}: {_first_line(error)}") from None


def _load(address: str) -> Any:
    try:
        import datasets
    except ImportError as error:
        raise MissingPackage("hf: data", "datasets", "hf") from error
    path, _, split = address.rpartition(":")
    if not path:
        raise BadData(f"hf:{address}: name the split too, as in hf:NAME/CONFIG:validation")
    last: Exception | None = None
    for name, config in _readings(path):
        try:
            with hub_access(name):
                return datasets.load_dataset(
                    name, config, split=split, streaming=True, **_no_remote_code(datasets)
                )
        except (FileNotFoundError, ValueError, OSError, ConnectionError) as error:
            last = last or error
    raise BadData(f"hf:{address} cannot be loaded: {_first_line(last)}") from None


def _no_remote_code(datasets: Any) -> dict[str, bool]:
    """Old versions would run a dataset's own script once the user says yes; new ones have none."""
    is_known = "trust_remote_code" in inspect.signature(datasets.load_dataset).parameters
    return {"trust_remote_code": False} if is_known else {}


def _readings(path: str) -> list[tuple[str, str | None]]:
    """How NAME[/CONFIG] may be meant: a folder, owner/name, owner/name/config, or name/config."""
    if Path(path).is_dir():
        return [(path, None)]
    parts = path.split("/")
    if len(parts) == 2:
        return [(path, None), (parts[0], parts[1])]
    return [("/".join(parts[:-1]), parts[-1])] if len(parts) > 2 else [(path, None)]


def with_class_names(row: dict[str, Any], features: Any) -> dict[str, Any]:
    """The row with class numbers (`ClassLabel`) as names."""
    plain = dict(row)
    for column, feature in (features or {}).items():
        names = getattr(feature, "names", None)
        number = plain.get(column)
        if names and isinstance(number, Integral) and 0 <= int(number) < len(names):
            plain[column] = names[int(number)]
    return plain


def _first_line(error: Exception | None) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
