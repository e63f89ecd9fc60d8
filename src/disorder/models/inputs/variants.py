"""The inputs of one call, as texts or as variants, and how a model gets them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from disorder.errors import BadModel
from disorder.models.protocols import TakesSegments, Tokens
from disorder.store.prediction_cache import KeyParts
from disorder.transformations.rendering import row_texts, variant_texts
from disorder.types import (
    TEXT_NAMES,
    Floats,
    Ints,
    PositionRows,
    Predictor,
    Segment,
    Segments,
    Texts,
    Variants,
)
from disorder.types.predictions import Predictions


class ModelInputs(Protocol):
    """What a model is called with."""

    def __len__(self) -> int:
        """How many predictions there will be."""

    def given(self) -> Sequence[Texts] | Sequence[Segments]:
        """The inputs one by one, as a model that streams its predictions takes them."""

    def take(self, chosen: Ints) -> ModelInputs:
        """Some of the inputs, in ascending order."""

    def key_parts(self) -> list[KeyParts]:
        """The named parts of each input, which tell inputs apart in a cache."""

    def predicted_by(self, predictor: Predictor) -> Floats | Predictions:
        """The predictions of a model."""


@dataclass(frozen=True, eq=False)
class TextInputs:
    """Inputs that are strings."""

    texts: Sequence[Texts]

    def __len__(self) -> int:
        return len(self.texts)

    def given(self) -> Sequence[Texts]:
        """The strings."""
        return self.texts

    def take(self, chosen: Ints) -> TextInputs:
        """Some of them."""
        return TextInputs([self.texts[i] for i in chosen.tolist()])

    def key_parts(self) -> list[KeyParts]:
        """The strings with their names."""
        return [text_parts(each) for each in self.texts]

    def predicted_by(self, predictor: Predictor) -> Floats | Predictions:
        """The predictions of any model."""
        return predictor(self.texts)


@dataclass(frozen=True, eq=False)
class SegmentInputs:
    """Inputs of other segments than one text or a pair, for a model that takes them by name."""

    inputs: Sequence[Segments]

    def __len__(self) -> int:
        return len(self.inputs)

    def given(self) -> Sequence[Segments]:
        """The inputs."""
        return self.inputs

    def take(self, chosen: Ints) -> SegmentInputs:
        """Some of them."""
        return SegmentInputs([self.inputs[i] for i in chosen.tolist()])

    def key_parts(self) -> list[KeyParts]:
        """The segments with their names; a list once per item."""
        return [
            [
                (name, text)
                for name, segment in each.items()
                for text in ((segment,) if isinstance(segment, str) else segment)
            ]
            for each in self.inputs
        ]

    def predicted_by(self, predictor: Predictor) -> Floats | Predictions:
        """The predictions of a model that takes segments."""
        if not isinstance(predictor, TakesSegments):
            names = ", ".join(self.inputs[0])
            raise BadModel(f"this model takes one text or a pair, not segments named {names}")
        return predictor.predict_segments(self.inputs)


@dataclass(frozen=True, eq=False)
class VariantInputs:
    """Inputs that are word positions; strings are made where they are needed."""

    variants: Sequence[Variants]

    def __len__(self) -> int:
        return sum(map(len, self.variants))

    def given(self) -> list[Texts]:
        """The variants as strings."""
        return all_texts(self.variants)

    def take(self, chosen: Ints) -> VariantInputs:
        """Some of them."""
        return VariantInputs(take_variants(self.variants, chosen))

    def key_parts(self) -> list[KeyParts]:
        """Their texts; of variants that move tokens the token numbers."""
        if not are_tokens(self.variants):
            return [text_parts(each) for each in self.given()]
        return [
            [
                (name, " ".join(map(str, numbers)))
                for name, numbers in (("tokens_a", a), ("tokens_b", b))
                if numbers is not None
            ]
            for each in self.variants
            for a, b in token_rows(each)
        ]

    def predicted_by(self, predictor: Predictor) -> Floats | Predictions:
        """The predictions of a model, from positions where it takes them."""
        if isinstance(predictor, Tokens):
            return predictor.predict_variants(self.variants)
        return predictor(self.given())


def text_parts(texts: Texts) -> KeyParts:
    """The one or two texts of an input with their names."""
    return [(name, text) for name, text in zip(TEXT_NAMES, texts, strict=True) if text is not None]


def are_tokens(variants: Sequence[Variants]) -> bool:
    """Whether the units of these variants are tokens, which reach the network as numbers."""
    return any(rows.sentence.tokens is not None for each in variants for rows in each.sides)


def token_rows(variants: Variants) -> list[tuple[list[int], list[int] | None]]:
    """The token numbers of both texts, one entry per variant, for variants that move tokens."""
    first = _numbers(variants.a)
    second: Sequence[list[int] | None] = [None] if variants.b is None else _numbers(variants.b)
    return [(first[i % len(first)], second[i % len(second)]) for i in range(len(variants))]


def _numbers(rows: PositionRows) -> list[list[int]]:
    units = rows.sentence.tokens or ()
    return [[token for i in row for token in units[i]] for row in rows.positions.tolist()]


def all_texts(variants: Sequence[Variants]) -> list[Texts]:
    """The texts of the variants of every example in turn."""
    return [texts for each in variants for texts in variant_texts(each)]


def are_texts(segments: Segments) -> bool:
    """Whether an input is one text or a pair, as any classifier takes it."""
    return segments.keys() <= set(TEXT_NAMES)


def texts_of(segments: Segments) -> Texts:
    """Such an input as a classifier takes it."""
    first, second = (segments.get(name) for name in TEXT_NAMES)
    return str(first), None if second is None else str(second)


def variant_segments(variants: Variants) -> list[Segments]:
    """What a model gets of an example's variants: its segments, with the perturbed ones in place of
    the original ones.
    """
    perturbed = [
        _as_segments(variants.segments[name], rows)
        for name, rows in zip(variants.on, variants.sides, strict=False)
    ]
    return [
        {
            **variants.segments,
            **{
                name: found[i % len(found)]
                for name, found in zip(variants.on, perturbed, strict=False)
            },
        }
        for i in range(len(variants))
    ]


def _as_segments(original: Segment, rows: PositionRows) -> Sequence[Segment]:
    if isinstance(original, str):
        return row_texts(rows)
    items = rows.sentence.words
    return [tuple(items[i] for i in row) for row in rows.positions.tolist()]


def take_variants(variants: Sequence[Variants], chosen: Ints) -> list[Variants]:
    """The chosen ones of all variants, counted over all examples, in ascending order."""
    counts = np.array([len(each) for each in variants])
    ends = np.cumsum(counts)
    bounds = np.searchsorted(chosen, [ends - counts, ends])
    taken = []
    for each, end, count, low, high in zip(variants, ends, counts, *bounds, strict=True):
        if low < high:
            taken.append(some_variants(each, chosen[low:high] - (end - count)))
    return taken


def some_variants(variants: Variants, chosen: Ints) -> Variants:
    """Some of an example's variants."""
    if len(chosen) == len(variants):
        return variants
    b = None if variants.b is None else _some(variants.b, chosen)
    return replace(variants, a=_some(variants.a, chosen), b=b)


def _some(rows: PositionRows, chosen: Ints) -> PositionRows:
    return rows if rows.is_shared else rows.take(chosen)
