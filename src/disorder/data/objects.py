"""Rows of Python objects: data frames, Arrow, `datasets`, columns, (texts, labels), plain rows."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from disorder.data.examples import SourceRow
from disorder.data.files import plain_rows
from disorder.data.hf import with_class_names
from disorder.errors import BadData

logger = logging.getLogger(__name__)
HELD_OUT = ("test", "validation")  # splits that a model is audited on
FORMS = (
    "a spec, rows (dictionaries, or (text, label)), (texts, labels), {column: values}, a data "
    "frame (pandas, polars, Arrow), or a Dataset of datasets"
)


def rows_of(given: Any) -> Iterator[SourceRow]:
    """The rows of an object, with where each one is."""
    return ((f"row {number}", row) for number, row in enumerate(_rows(given), start=1))


def _rows(given: Any) -> Iterable[Any]:
    if isinstance(given, Mapping):
        return _rows_of_mapping(given)
    if _is_of("datasets", given, "Dataset", "IterableDataset"):
        return (with_class_names(row, given.features) for row in given.with_format(None))
    if _is_of("polars", given, "LazyFrame"):
        return _rows(given.collect())
    if _is_of("pandas", given, "DataFrame"):
        return _rows_of_pandas(given)
    if hasattr(given, "__arrow_c_stream__") and hasattr(given, "columns"):  # polars, Arrow, duckdb
        import pyarrow

        return [row for batch in pyarrow.table(given).to_batches() for row in plain_rows(batch)]
    if isinstance(given, np.ndarray) and given.dtype.names:
        return _from_columns({name: given[name] for name in given.dtype.names})
    if isinstance(given, tuple | list) and _is_columns(given):
        named = _from_columns(dict(zip(_names(len(given)), given, strict=True)))
        return (_row([*row.values()]) for row in named)
    listed = _listed(given)
    if listed is None:
        raise BadData(f"data cannot be a {type(given).__name__}; give {FORMS}")
    return (_row(each) for each in listed)


def _is_of(package: str, given: Any, *names: str) -> bool:
    """Whether an object is of a class of a package, which then has been imported already."""
    module = sys.modules.get(package)
    classes = tuple(each for name in names if (each := getattr(module, name, None)) is not None)
    return bool(classes) and isinstance(given, classes)


def _rows_of_mapping(given: Mapping[Any, Any]) -> Iterable[Any]:
    """Rows of {column: values}, or of a dictionary of splits that says which one is meant."""
    if given and all(
        _is_of("datasets", each, "Dataset", "IterableDataset") for each in given.values()
    ):
        splits = list(given)
        held_out = [name for name in splits if name in HELD_OUT]
        meant = splits if len(splits) == 1 else held_out
        if len(meant) != 1:
            raise BadData(
                f"data has the splits {', '.join(map(str, splits))}: give one of them, "
                f"data[{(held_out or splits)[0]!r}]"
            )
        if len(splits) > 1:
            logger.warning("data: of its splits, %s is read", meant[0])
        return _rows(given[meant[0]])
    return _from_columns(given)


def _rows_of_pandas(frame: Any) -> list[dict[str, Any]]:
    names = [*map(str, frame.columns)]
    if len(set(names)) < len(names):
        raise BadData("data: a column name stands twice in the data frame")
    columns = [_values_of_pandas(values) for _, values in frame.items()]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _values_of_pandas(values: Any) -> list[Any]:
    """The values of a series, None for gaps; whole numbers that only gaps made floats are whole."""
    is_gap = values.isna()
    if values.dtype.kind == "f" and is_gap.any() and (values.dropna() % 1 == 0).all():
        values = values.astype("Int64")
    return [_without_arrays(each) for each in values.astype(object).where(~is_gap, None)]


def _without_arrays(cell: Any) -> Any:
    """A cell with lists in place of arrays, as which pandas holds the lists of a Parquet file."""
    if isinstance(cell, np.ndarray):
        cell = cell.tolist()
    if isinstance(cell, dict):
        return {name: _without_arrays(each) for name, each in cell.items()}
    return [_without_arrays(each) for each in cell] if isinstance(cell, list) else cell


def _from_columns(columns: Mapping[Any, Any]) -> list[dict[str, Any]]:
    listed = {str(name): _listed(values) for name, values in columns.items()}
    for name, values in listed.items():
        if values is None:
            raise BadData(
                f"data is a dictionary, and its {name!r} is no list of values; give {FORMS}"
            )
    sizes = {name: len(values or ()) for name, values in listed.items()}
    if len(set(sizes.values())) > 1:
        told = ", ".join(f"{name} {size:,}" for name, size in sizes.items())
        raise BadData(f"data: its columns differ in length ({told})")
    rows = zip(*(values or () for values in listed.values()), strict=True)
    return [dict(zip(listed, row, strict=True)) for row in rows]


def _pair_apart(row: Sequence[Any]) -> Sequence[Any]:
    """A row of (text, label), where the text may be a pair."""
    is_pair = len(row) == 2 and isinstance(row[0], tuple | list) and len(row[0]) == 2
    return (*row[0], row[1]) if is_pair else row


def _is_columns(given: Sequence[Any]) -> bool:
    """Whether values are (texts, labels) or (texts, second texts, labels), not rows."""
    if len(given) not in (2, 3):
        return False
    inner = [_listed(each) for each in given]
    if any(values is None for values in inner):
        return False
    if any(isinstance(each, Mapping) for values in inner for each in values or ()):
        return False
    if isinstance(given, tuple) and not all(isinstance(each, tuple) for each in given):
        return True
    sizes = {len(values or ()) for values in inner}
    if sizes in ({2}, {3}) and (isinstance(given, tuple) or sizes == {len(given)}):
        raise BadData(
            "data can be read as rows and as columns; give lists, (texts, labels), or rows as "
            "dictionaries"
        )
    return not sizes <= {2, 3}


def _row(given: Any) -> Any:
    """A row with names for its values: (text, label), (text, second text, label), or a text."""
    if isinstance(given, str):
        return {"text_a": given}
    if isinstance(given, tuple | list | np.ndarray) and len(given) in (2, 3):
        apart = _pair_apart(list(given))
        return dict(zip(_names(len(apart)), apart, strict=True))
    return given


def _names(n: int) -> tuple[str, ...]:
    return ("text_a", "label") if n == 2 else ("text_a", "text_b", "label")


def _listed(given: Any) -> list[Any] | None:
    """The values of a list, an array, a tensor or a series as Python has them."""
    if isinstance(given, list | tuple):
        return [each.item() if isinstance(each, np.generic) else each for each in given]
    if isinstance(given, str | bytes | Mapping):
        return None
    if _is_of("datasets", given, "Column") or _is_of("pandas", given, "Series", "Index"):
        return _listed(list(given))
    for method in ("to_pylist", "to_list", "tolist"):
        if callable(getattr(given, method, None)):
            found = getattr(given, method)()
            return found if isinstance(found, list) else None
    return None
