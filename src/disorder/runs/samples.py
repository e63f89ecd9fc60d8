"""Samples: what the model predicted for each variant, as a table with one row per variant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from disorder.abstention import ABSTAINED, NO_ANSWERS, no_answer_codes, predicted_label
from disorder.errors import BadData
from disorder.types import DISORDER, Example, Floats, PositionRows, Texts, Variants

NAMES = pa.dictionary(pa.int32(), pa.string())
POSITIONS = pa.list_(pa.int32())
SCHEMA = pa.schema(
    [
        ("example", NAMES),
        ("transformation", NAMES),
        ("variant", pa.int32()),
        ("side", NAMES),
        ("positions_a", POSITIONS),
        ("positions_b", POSITIONS),
        ("label", NAMES),
        ("probabilities", pa.list_(pa.float32())),
        ("written_a", pa.string()),
        ("written_b", pa.string()),
        ("no_answer", NAMES),  # why the model gave none; probabilities are NaN then
        *((name, pa.float32()) for name in DISORDER),
    ]
)


def sample_table(
    transformation: str,
    labels: Sequence[str],
    examples: Sequence[Example],
    variants: Sequence[Variants | None],
    predictions: Sequence[Floats],
    *,
    texts: Sequence[Sequence[Texts]] | None = None,
    disorder: Sequence[Mapping[str, Floats]] | None = None,
) -> pa.Table:
    """The variants of some examples with their predictions; None stands for original texts.

    `texts` are those of every variant, to be kept where they cannot be drawn again from the
    original text and the seed; `disorder` is that of every variant.
    """
    counts = [len(part) for part in predictions]
    stacked = np.empty((0, max(1, len(labels))), np.float32)
    if predictions:
        stacked = np.concatenate(predictions).astype(np.float32)
    codes = no_answer_codes(stacked)
    stacked[codes > 0] = np.nan
    sides = [_side(group) for group in variants]
    columns = [
        _repeated([storable(e.id) for e in examples], counts),
        _constant(transformation, sum(counts)),
        pa.array(np.concatenate([np.arange(n) for n in counts]) if counts else [], pa.int32()),
        _repeated(sides, counts),
        _lists("a", variants, sides, counts),
        _lists("b", variants, sides, counts),
        _labels(labels, stacked),
        _matrix(stacked),
        _texts(_kept_texts("a", variants, texts, counts)),
        _texts(_kept_texts("b", variants, texts, counts)),
        _reasons(codes),
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


def predictions_of(table: pa.Table) -> tuple[list[str], Any, Any]:
    """The example and variant number of every row, and the probabilities as a matrix."""
    n = table.num_rows
    examples = table["example"].cast(pa.string()).to_pylist()
    flat = table["probabilities"].combine_chunks().flatten().to_numpy()
    if n and len(flat) % n:
        raise BadData("the samples are damaged: rows have different numbers of probabilities")
    return examples, table["variant"].to_numpy(), flat.reshape(n, -1) if n else flat.reshape(0, 1)


def no_answers_of(table: pa.Table) -> dict[str, int]:
    """How many rows have no answer, by reason."""
    reasons = table["no_answer"].drop_null().cast(pa.string()).to_pylist()
    return dict(sorted(Counter(reasons).items()))


def is_about(table: pa.Table, ids: Collection[str], n_variants: int, n_labels: int) -> bool:
    """Whether a part can be what was predicted for these examples: no other example, variant or
    number of labels, and nothing that is no number.
    """
    if not table.num_rows:
        return True
    if any(table[name].null_count for name in ("example", "variant", "probabilities")):
        return False
    widths = pc.unique(pc.list_value_length(table["probabilities"])).to_pylist()
    if widths != [n_labels]:
        return False
    examples, variants, predictions = predictions_of(table)
    is_in_range = variants.min() >= 0 and variants.max() < n_variants
    has_answer = table["no_answer"].is_null().to_numpy()
    is_finite = np.isfinite(predictions[has_answer]).all()
    return bool(is_in_range and is_finite and set(examples) <= set(ids))


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
) -> list[list[str | None]]:
    """The texts of one side per example where they must be kept, None where positions suffice."""
    if texts is None:
        return [_written(name, group, n) for group, n in zip(variants, counts, strict=True)]
    side = "ab".index(name)
    found = ([pair[side] for pair in group[:n]] for group, n in zip(texts, counts, strict=True))
    return [[None if text is None else storable(text) for text in group] for group in found]


def _written(name: Literal["a", "b"], variants: Variants | None, n: int) -> list[str | None]:
    """The texts that a transformation wrote itself, of which there are no positions."""
    if variants is None:
        return [None] * n
    rows = variants.a if name == "a" else variants.b
    if rows is None or rows.written is None:
        return [None] * n
    return [storable(rows.written[i % len(rows.written)]) for i in range(n)]


def _texts(groups: Sequence[Sequence[str | None]]) -> pa.Array:
    return pa.array([text for group in groups for text in group], pa.string())


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


def _repeated(names: Sequence[str], counts: Sequence[int]) -> pa.Array:
    known = list(dict.fromkeys(names))
    numbers = {name: i for i, name in enumerate(known)}
    indices = np.repeat(np.array([numbers[name] for name in names], dtype=np.int32), counts)
    return pa.DictionaryArray.from_arrays(
        pa.array(indices, pa.int32()), pa.array(known, pa.string())
    )


def _constant(name: str, n: int) -> pa.Array:
    return pa.DictionaryArray.from_arrays(
        pa.array(np.zeros(n, dtype=np.int32)), pa.array([name], pa.string())
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


def _reasons(codes: Any) -> pa.Array:
    """Why there is no answer, by its code; null where there is one."""
    numbers = pa.array(np.maximum(codes - 1, 0), pa.int32(), mask=codes == 0)
    return pa.DictionaryArray.from_arrays(numbers, pa.array(NO_ANSWERS, pa.string()))


def _matrix(predictions: Any) -> pa.Array:
    offsets = np.arange(len(predictions) + 1, dtype=np.int32) * predictions.shape[1]
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(predictions.ravel()))
