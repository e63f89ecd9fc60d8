"""Samples: what the model predicted for each variant, as a table with one row per variant.

`sample_table` writes them and `checked_samples` reads them, whoever wrote the file: nobody else has
to know what an older version wrote, or to doubt a row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from disorder.errors import BadData
from disorder.safe_io import one_line
from disorder.types import DISORDER, OF_SIDES, Example, Floats, PositionRows, Texts, Variants
from disorder.types.predictions import (
    ABSTAINED,
    ABSTAINS,
    ANSWERED,
    FAILED,
    Predictions,
    is_failed,
    predicted_label,
)

NAMES = pa.dictionary(pa.int32(), pa.string())
POSITIONS = pa.list_(pa.int32())
SCHEMA = pa.schema(
    [
        ("example", NAMES),
        ("family", NAMES),  # examples that are not independent share one
        ("transformation", NAMES),
        ("variant", pa.int32()),
        ("repeat", pa.int32()),  # how often the same text was predicted before
        ("segment", NAMES),  # what differs from the original; null where nothing does
        ("positions_a", POSITIONS),
        ("positions_b", POSITIONS),
        ("outcome", NAMES),  # answered, abstained, or failed: and why; probabilities are NaN then
        ("label", NAMES),
        ("probabilities", pa.list_(pa.float32())),
        ("written_a", pa.string()),
        ("written_b", pa.string()),
        ("n_variants", pa.int32()),  # of the example; fewer rows where prediction stopped early
        *((name, pa.float32()) for name in DISORDER),
    ]
)
OLDER = (("side", NAMES), ("no_answer", NAMES))  # columns of older versions
READ_SCHEMA = pa.schema([*SCHEMA, *OLDER])
SEGMENTS = {side: "+".join(on) for side, on in OF_SIDES.items()}
ROW = ("example", "variant", "repeat")  # what a row is about, once in a transformation
NEEDED = (*ROW, "outcome", "probabilities")
ROUNDING = 1e-3  # by which probabilities may miss their range


def sample_table(
    transformation: str,
    labels: Sequence[str],
    examples: Sequence[Example],
    variants: Sequence[Variants | None],
    predictions: Predictions,
    *,
    counts: Sequence[int] | None = None,
    texts: Sequence[Sequence[Texts]] | None = None,
    disorder: Sequence[Mapping[str, Floats]] | None = None,
    repeat: int = 0,
) -> pa.Table:
    """The variants of some examples with their predictions; None stands for original texts.

    `counts` is how many predictions each example has, one without it. `texts` are those of every
    variant, to be kept where they cannot be drawn again from the original text and the seed;
    `disorder` is that of every variant; `repeat` is how often the texts were predicted before.
    """
    counts = [1] * len(examples) if counts is None else counts
    n_rows = sum(counts)
    stacked = predictions.values.astype(np.float32)
    sides = [_side(group) for group in variants]
    ids = _repeated([storable(e.id) for e in examples], counts)
    n_variants = [1 if group is None else len(group) for group in variants]
    columns = [
        ids,
        _repeated([storable(e.family or e.id) for e in examples], counts),
        pa.DictionaryArray.from_arrays(
            pa.array(np.zeros(n_rows, dtype=np.int32)), pa.array([transformation], pa.string())
        ),
        pa.array(np.concatenate([np.arange(n) for n in counts]) if counts else [], pa.int32()),
        pa.array(np.full(n_rows, repeat, dtype=np.int32)),
        _repeated([_segment(group) for group in variants], counts),
        _lists("a", variants, sides, counts),
        _lists("b", variants, sides, counts),
        _outcomes(labels, stacked, predictions.outcomes),
        _labels(labels, stacked),
        _matrix(stacked),
        _kept_texts("a", variants, texts, counts),
        _kept_texts("b", variants, texts, counts),
        pa.array(np.repeat(np.array(n_variants, dtype=np.int32), counts), pa.int32()),
        *(_measured(name, disorder, counts) for name in DISORDER),
    ]
    return pa.Table.from_arrays(columns, schema=SCHEMA)


def _measured(
    name: str, disorder: Sequence[Mapping[str, Floats]] | None, counts: Sequence[int]
) -> pa.Array:
    """One measure of every variant, as far as it was predicted."""
    if not disorder:
        return pa.nulls(sum(counts), pa.float32())
    values = [each[name][:n] for each, n in zip(disorder, counts, strict=True)]
    return pa.array(np.concatenate(values), pa.float32(), from_pandas=True)


def checked_samples(table: pa.Table, where: str, *, n_labels: int | None = None) -> pa.Table:
    """The samples of a file in today's columns, each row checked: one line where no audit can have
    written them. `n_labels` is the number of labels of the data where that is known.
    """
    current = _current(table)
    if not current.num_rows:
        return current
    missing = [name for name in NEEDED if current[name].null_count]
    if missing:
        raise damaged(where, f"a row has no {missing[0]}")
    for name in ("variant", "repeat"):
        if pc.min(current[name]).as_py() < 0:
            raise damaged(where, f"{name} {pc.min(current[name]).as_py()}")
    widths = pc.unique(pc.list_value_length(current["probabilities"])).to_pylist()
    if len(widths) > 1 or (n_labels is not None and widths != [max(1, n_labels)]):
        raise damaged(where, "rows have other numbers of probabilities than there are labels")
    if current["probabilities"].combine_chunks().flatten().null_count:
        raise damaged(where, "a row lacks a probability")
    _check_values(current, where, are_shares=widths[0] > 1)
    check_unique(current, where)
    return current


def check_unique(table: pa.Table, where: str) -> None:
    """Raise where two rows of a transformation are about the same variant."""
    keys = table.select(["transformation", *ROW]).unify_dictionaries()
    counts = keys.group_by(keys.column_names).aggregate([([], "count_all")])
    if counts.num_rows == table.num_rows:
        return
    row = counts.filter(pc.greater(counts["count_all"], 1)).slice(0, 1).to_pylist()[0]
    name = one_line(f"{row['example']}, {row['transformation']}")
    raise damaged(where, f"variant {row['variant']} of {name} stands there twice")


def _check_values(table: pa.Table, where: str, *, are_shares: bool) -> None:
    outcomes = np.array(table["outcome"].cast(pa.string()).to_pylist(), dtype=object)
    is_known = np.isin(outcomes, (ANSWERED, ABSTAINS)) | is_failed(outcomes)
    if not is_known.all():
        told = one_line(outcomes[~is_known][0])
        raise damaged(where, f"{told!r} is no outcome")
    _, _, values = predictions_of(table)
    values = values[~is_failed(outcomes)]
    if not np.isfinite(values).all():
        raise damaged(where, "a prediction is not a number")
    if are_shares and not (
        (values >= -ROUNDING).all() and (values.sum(axis=1) <= 1 + ROUNDING).all()
    ):
        raise damaged(where, "a row of probabilities does not lie between 0 and 1")


def damaged(where: str, what: str) -> BadData:
    """The line for samples that no audit can have written."""
    return BadData(f"{where} is damaged: {what}; audit it again")


def _current(table: pa.Table) -> pa.Table:
    """A table in today's columns; an older one is completed from its own."""
    if table["outcome"].null_count < table.num_rows or not table.num_rows:
        return table.select(SCHEMA.names)
    labels, reasons, sides = (
        table[name].cast(pa.string()).combine_chunks() for name in ("label", "no_answer", "side")
    )
    said = pc.if_else(pc.fill_null(pc.equal(labels, ABSTAINED), False), ABSTAINS, ANSWERED)
    why = pc.binary_join_element_wise(FAILED, reasons, "")
    new = {
        "family": table["example"],
        "repeat": pa.array(np.zeros(table.num_rows, dtype=np.int32)),
        "segment": pa.array([SEGMENTS.get(side) for side in sides.to_pylist()], pa.string()),
        "outcome": pc.if_else(pc.is_valid(reasons), why, said),
    }
    for name, column in new.items():
        field = SCHEMA.field(name)
        place = table.schema.get_field_index(name)
        table = table.set_column(place, field, column.cast(field.type))
    return table.select(SCHEMA.names)


def predictions_of(table: pa.Table) -> tuple[list[str], Any, Any]:
    """The example and variant number of every row, and the probabilities as a matrix."""
    n = table.num_rows
    examples = table["example"].cast(pa.string()).to_pylist()
    flat = table["probabilities"].combine_chunks().flatten().to_numpy()
    return examples, table["variant"].to_numpy(), flat.reshape(n, -1) if n else flat.reshape(0, 1)


def no_answers_of(table: pa.Table) -> dict[str, int]:
    """How many rows have no answer, by reason."""
    counted = pc.value_counts(table["outcome"].cast(pa.string())).to_pylist()
    found = Counter({each["values"]: each["counts"] for each in counted})
    return {
        outcome.removeprefix(FAILED): n
        for outcome, n in sorted(found.items())
        if outcome.startswith(FAILED)
    }


def storable(text: str) -> str:
    """Lone surrogates cannot be stored as UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _side(variants: Variants | None) -> str:
    """Which texts differ from the original."""
    if variants is None:
        return "none"
    changed = [
        name for name, rows in zip("ab", variants.sides, strict=False) if not _is_original(rows)
    ]
    return {0: "none", 1: "".join(changed)}.get(len(changed), "both")


def _is_original(rows: PositionRows) -> bool:
    """Whether all variants share the original text."""
    n = rows.positions.shape[1]
    is_all = rows.is_shared and rows.written is None and n == len(rows.sentence) > 0
    return is_all and bool((rows.positions[0] == np.arange(n)).all())


def _positions(variants: Variants | None, side: str, name: str, n: int) -> tuple[Any, int]:
    """The position rows of one text, or None for each variant where it is the original."""
    if variants is None or side not in (name, "both"):
        return None, n
    rows = variants.a if name == "a" else variants.b
    assert rows is not None
    if rows.written is not None:
        return None, n
    return (np.tile(rows.positions, (n, 1)) if rows.is_shared else rows.positions[:n]), n


def _kept_texts(
    name: Literal["a", "b"],
    variants: Sequence[Variants | None],
    texts: Sequence[Sequence[Texts]] | None,
    counts: Sequence[int],
) -> pa.Array:
    """The texts of one side where they must be kept, None where positions suffice."""
    if texts is None:
        written = (_written(name, group, n) for group, n in zip(variants, counts, strict=True))
        return pa.array([text for group in written for text in group], pa.string())
    side = "ab".index(name)
    found = (pair[side] for group, n in zip(texts, counts, strict=True) for pair in group[:n])
    return pa.array([None if text is None else storable(text) for text in found], pa.string())


def _written(name: Literal["a", "b"], variants: Variants | None, n: int) -> list[str | None]:
    """The texts that a transformation wrote itself, of which there are no positions."""
    if variants is None:
        return [None] * n
    rows = variants.a if name == "a" else variants.b
    if rows is None or rows.written is None:
        return [None] * n
    return [storable(rows.written[i % len(rows.written)]) for i in range(n)]


def _lists(
    name: Literal["a", "b"],
    variants: Sequence[Variants | None],
    sides: Sequence[str],
    counts: Sequence[int],
) -> pa.Array:
    """The positions of one text as a list array, without going through Python lists."""
    groups = [
        _positions(group, side, name, n)
        for group, side, n in zip(variants, sides, counts, strict=True)
    ]
    lengths = [np.full(n, 0 if matrix is None else matrix.shape[1]) for matrix, n in groups]
    offsets = np.concatenate([[0], np.cumsum(np.concatenate(lengths))]) if lengths else np.zeros(1)
    values = [matrix.ravel() for matrix, _ in groups if matrix is not None]
    mask = np.zeros(0, dtype=bool)
    if groups:
        mask = np.concatenate([np.full(n, matrix is None) for matrix, n in groups])
    flat = np.concatenate(values).astype(np.int32) if values else np.empty(0, np.int32)
    return pa.ListArray.from_arrays(
        pa.array(offsets.astype(np.int32)), pa.array(flat), mask=pa.array(mask)
    )


def _segment(variants: Variants | None) -> str | None:
    """The names of the segments that differ from the original."""
    if variants is None:
        return None
    named = zip(variants.on, variants.sides, strict=False)
    return "+".join(name for name, rows in named if not _is_original(rows)) or None


def _repeated(names: Sequence[str | None], counts: Sequence[int]) -> pa.Array:
    known = list(dict.fromkeys(name for name in names if name is not None))
    numbers = {name: i for i, name in enumerate(known)}
    places = np.array([numbers.get(name or "", -1) for name in names], dtype=np.int32)
    indices = np.repeat(places, counts)
    return pa.DictionaryArray.from_arrays(
        pa.array(indices, pa.int32(), mask=indices < 0), pa.array(known, pa.string())
    )


def _labels(labels: Sequence[str], predictions: Any) -> pa.Array:
    if not labels:
        return pa.nulls(len(predictions), NAMES)
    numbers = np.empty(0, np.int32)
    if len(predictions):
        numbers = predicted_label(predictions).astype(np.int32)
    is_none = np.isnan(predictions[:, 0])
    names = [*labels, ABSTAINED] if ((numbers < 0) & ~is_none).any() else list(labels)
    indices = pa.array(np.where(numbers < 0, len(labels), numbers), pa.int32(), mask=is_none)
    return pa.DictionaryArray.from_arrays(indices, pa.array(names, pa.string()))


def _outcomes(labels: Sequence[str], predictions: Any, outcomes: Any) -> pa.Array:
    """The outcome of each row; a model that gives none of the labels abstains."""
    found = outcomes
    if len(labels) > 1 and len(predictions):
        abstains = (predicted_label(predictions) < 0) & ~is_failed(outcomes)
        found = np.where(abstains, ABSTAINS, outcomes)
    known = list(dict.fromkeys([ANSWERED, *found.tolist()]))
    numbers = np.zeros(len(found), dtype=np.int32)
    for i, outcome in enumerate(known[1:], start=1):
        numbers[found == outcome] = i
    return pa.DictionaryArray.from_arrays(pa.array(numbers), pa.array(known, pa.string()))


def _matrix(predictions: Any) -> pa.Array:
    offsets = np.arange(len(predictions) + 1, dtype=np.int32) * predictions.shape[1]
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(predictions.ravel()))
