"""The inputs of one call, as texts or as variants, and how a model gets them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from disorder.models.protocols import Tokens
from disorder.transformations.rendering import variant_texts
from disorder.types import Floats, Ints, PositionRows, Predictor, Texts, Variants


class ModelInputs(Protocol):
    """What a model is called with."""

    def __len__(self) -> int:
        """How many predictions there will be."""

    def texts(self) -> Sequence[Texts]:
        """The inputs as strings."""

    def take(self, chosen: Ints) -> ModelInputs:
        """Some of the inputs, in ascending order."""

    def cache_keys(self) -> Sequence[Texts]:
        """What tells the inputs apart in a cache."""

    def predicted_by(self, predictor: Predictor) -> Floats:
        """The predictions of a model."""


@dataclass(frozen=True, eq=False)
class TextInputs:
    """Inputs that are strings."""

    given: Sequence[Texts]

    def __len__(self) -> int:
        return len(self.given)

    def texts(self) -> Sequence[Texts]:
        """The strings."""
        return self.given

    def take(self, chosen: Ints) -> TextInputs:
        """Some of them."""
        return TextInputs([self.given[i] for i in chosen.tolist()])

    def cache_keys(self) -> Sequence[Texts]:
        """The strings."""
        return self.given

    def predicted_by(self, predictor: Predictor) -> Floats:
        """The predictions of any model."""
        return predictor(self.given)


@dataclass(frozen=True, eq=False)
class VariantInputs:
    """Inputs that are word positions; strings are made where they are needed."""

    variants: Sequence[Variants]

    def __len__(self) -> int:
        return sum(map(len, self.variants))

    def texts(self) -> list[Texts]:
        """The variants as strings."""
        return all_texts(self.variants)

    def take(self, chosen: Ints) -> VariantInputs:
        """Some of them."""
        return VariantInputs(take_variants(self.variants, chosen))

    def cache_keys(self) -> list[Texts]:
        """Their texts; of variants that move tokens the token numbers."""
        if not are_tokens(self.variants):
            return self.texts()
        return [
            (_written(a), None if b is None else _written(b))
            for each in self.variants
            for a, b in token_rows(each)
        ]

    def predicted_by(self, predictor: Predictor) -> Floats:
        """The predictions of a model, from positions where it takes them."""
        if isinstance(predictor, Tokens):
            return predictor.predict_variants(self.variants)
        return predictor(self.texts())


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


def _written(tokens: Sequence[int]) -> str:
    """Token numbers as a text that is no other input's."""
    return "\0tokens " + " ".join(map(str, tokens))


def all_texts(variants: Sequence[Variants]) -> list[Texts]:
    """The texts of the variants of every example in turn."""
    return [texts for each in variants for texts in variant_texts(each)]


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
    return Variants(_some(variants.a, chosen), b, variants.label)


def _some(rows: PositionRows, chosen: Ints) -> PositionRows:
    return rows if rows.is_shared else rows.take(chosen)
