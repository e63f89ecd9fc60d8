"""Chains: a later step perturbs every variant of the step before, as a sentence of its own; and how
many variants are enough.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from disorder.errors import DoesNotApply
from disorder.transformations.positions.orders import unchanged
from disorder.transformations.rendering import row_texts
from disorder.types import Bools, Example, Pair, PositionRows, Sentence, Texts, Variants

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
        second = None if b is None else _view(b, cut)
        pair = Pair(_view(a, cut), second, variants.label, variants.on)
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


def where_one_can_move(variants: Variants) -> Variants:
    """The variants that change a text; one that has no other order stays as it is where the other
    one moves.
    """
    variants = _changed(variants)
    is_stuck = [len(rows) == 0 and rows.available == 0 for rows in variants.sides]
    moves = [len(rows) > 0 and not rows.is_shared for rows in variants.sides]
    if not any(is_stuck) or not any(moves):
        return variants
    a, *b = [
        unchanged(rows.sentence) if stuck else rows
        for rows, stuck in zip(variants.sides, is_stuck, strict=True)
    ]
    return Variants(a, b[0] if b else None, variants.label)


def _changed(variants: Variants) -> Variants:
    """The variants without those whose words stand as before, such as "la la la"."""
    found = [_stand_as_before(rows) for rows in variants.sides if not rows.is_shared]
    is_same = [same for same in found if same is not None]
    if not is_same or len(is_same) < len(found):
        return variants
    n = min(map(len, is_same))
    kept = np.flatnonzero(~np.logical_and.reduce([same[:n] for same in is_same]))
    if len(kept) == n:
        return variants
    a, *b = [
        rows if rows.is_shared else replace(rows.take(kept), available=0 if not len(kept) else None)
        for rows in variants.sides
    ]
    return replace(variants, a=a, b=b[0] if b else None)


def _stand_as_before(rows: PositionRows) -> Bools | None:
    """Which rows have every word where the same word was; None where words were not moved, or all
    differ.
    """
    sentence = rows.sentence
    if rows.written is not None or rows.positions.shape[1] != len(sentence):
        return None
    number: dict[str, int] = {}
    words = [sentence.text[i:j] for i, j in zip(sentence.starts, sentence.ends, strict=True)]
    numbers = np.array([number.setdefault(word, len(number)) for word in words], dtype=np.int64)
    if len(number) == len(words) or sentence.tokens is not None:
        return None
    return np.asarray((numbers[rows.positions] == numbers).all(axis=1))


def enough(variants: Variants, count: int, short: str, units: str) -> Variants:
    """As many variants as are wanted, or those there are; raises where that is too few."""
    if len(variants) == 0:
        raise DoesNotApply(
            NONE_EXISTS.format(units=units)
            if variants.available == 0
            else "no order that keeps the rule was found"
        )
    if len(variants) < count and short == "skip":
        if variants.available is None:
            how_many = f"{len(variants)} distinct variants were found"
        else:
            how_many = f"{variants.available} distinct variants exist"
        raise DoesNotApply(f"{how_many}, {count} asked for")
    a, *b = [rows if rows.is_shared else rows.take(slice(len(variants))) for rows in variants.sides]
    return Variants(a, b[0] if b else None, variants.label)


def stored_texts(example: Example, row: Mapping[str, Any]) -> Texts:
    """The texts of one stored variant; the original where none was kept."""
    written_a, written_b = row["written_a"], row["written_b"]
    first, second = example.texts
    return first if written_a is None else written_a, second if written_b is None else written_b
