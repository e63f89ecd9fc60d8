"""Chains: a later step perturbs every variant of the step before, as a sentence of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from disorder.errors import DoesNotApply
from disorder.transformations.rendering import row_texts
from disorder.types import Pair, PositionRows, Sentence, Variants

NONE_EXISTS = "no other order of its {units} exists"
Cut = Callable[[str], Sentence]


def then(variants: Variants, apply: Callable[[Pair, int], Variants], cut: Cut) -> Variants:
    """Apply a later step to every variant so far; `apply` takes a variant and its number."""
    if len(variants) == 0:
        raise DoesNotApply(NONE_EXISTS.format(units="words"))
    perturbed = []
    for k in range(len(variants)):
        before = _variant(variants, k)
        a, b = before
        pair = Pair(_view(a, cut), None if b is None else _view(b, cut), variants.label)
        after = apply(pair, k)
        perturbed.append([_compose(rows, pair, before) for rows in after.sides])
    first, *rest = [_stack(side) for side in zip(*perturbed, strict=True)]
    return Variants(first, rest[0] if rest else None, variants.label)


def _variant(variants: Variants, k: int) -> tuple[PositionRows, PositionRows | None]:
    only = len(variants) == 1  # then it stands for every variant that a later step draws
    a, *rest = [
        replace(rows.take(np.array([0 if rows.is_shared else k])), is_shared=rows.is_shared or only)
        for rows in variants.sides
    ]
    return a, rest[0] if rest else None


def _view(rows: PositionRows, cut: Cut) -> Sentence:
    if rows.written is not None:
        return cut(rows.written[0])
    return rows.sentence.select(rows.positions[0])


def _compose(
    after: PositionRows, pair: Pair, before: tuple[PositionRows, PositionRows | None]
) -> PositionRows:
    """Positions in the original sentence of what a later step chose from a view of it."""
    source = before[0] if after.sentence is pair.a else before[1]
    assert source is not None
    is_shared = source.is_shared and after.is_shared
    if after.written is not None or source.written is not None:
        return PositionRows.of_texts(source.sentence, row_texts(after), is_shared=is_shared)
    return PositionRows(
        source.sentence,
        source.positions[0][after.positions],
        available=after.available,
        is_shared=is_shared,
        is_spaced_out=source.is_spaced_out or after.is_spaced_out,
        is_lowered=source.is_lowered or after.is_lowered,
    )


def _stack(rows: Sequence[PositionRows]) -> PositionRows:
    """One `PositionRows` of many."""
    first = rows[0]
    if first.is_shared:
        return first
    if first.written is not None:
        return PositionRows.of_texts(
            first.sentence, [text for row in rows for text in row_texts(row)]
        )
    if len({row.positions.shape[1] for row in rows}) > 1:
        raise DoesNotApply("its variants differ in length")
    return replace(first, positions=np.concatenate([row.positions for row in rows]))
