"""The inputs of one call, as texts or as variants, and how a model gets them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from disorder.models.protocols import Asked, Chooses, Tokens
from disorder.store.prediction_cache import Segments
from disorder.transformations.rendering import variant_texts
from disorder.types import Choice, Floats, Ints, PositionRows, Predictor, Texts, Variants
from disorder.types.predictions import Predictions

if TYPE_CHECKING:
    from disorder.models.prompting.prompt import Question


class ModelInputs(Protocol):
    """What a model is called with."""

    def __len__(self) -> int:
        """How many predictions there will be."""

    def given(self) -> Sequence[Texts] | Sequence[Question] | Sequence[Choice]:
        """The inputs one by one, as a model that streams its predictions takes them."""

    def take(self, chosen: Ints) -> ModelInputs:
        """Some of the inputs, in ascending order."""

    def segments(self) -> list[Segments]:
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

    def segments(self) -> list[Segments]:
        """The strings with their names."""
        return [text_segments(each) for each in self.texts]

    def predicted_by(self, predictor: Predictor) -> Floats | Predictions:
        """The predictions of any model."""
        return predictor(self.texts)


@dataclass(frozen=True, eq=False)
class QuestionInputs:
    """Inputs that are whole questions, for a model that is asked by a prompt."""

    questions: Sequence[Question]

    def __len__(self) -> int:
        return len(self.questions)

    def given(self) -> Sequence[Question]:
        """The questions."""
        return self.questions

    def take(self, chosen: Ints) -> QuestionInputs:
        """Some of them."""
        return QuestionInputs([self.questions[i] for i in chosen.tolist()])

    def segments(self) -> list[Segments]:
        """Instruction, examples and text of each."""
        return [question.segments for question in self.questions]

    def predicted_by(self, predictor: Predictor) -> Floats | Predictions:
        """The predictions of a model that takes questions."""
        assert isinstance(predictor, Asked)
        return predictor.predict_questions(self.questions)


@dataclass(frozen=True, eq=False)
class ChoiceInputs:
    """Inputs that are questions with options of their own."""

    choices: Sequence[Choice]

    def __len__(self) -> int:
        return len(self.choices)

    def given(self) -> Sequence[Choice]:
        """The questions."""
        return self.choices

    def take(self, chosen: Ints) -> ChoiceInputs:
        """Some of them."""
        return ChoiceInputs([self.choices[i] for i in chosen.tolist()])

    def segments(self) -> list[Segments]:
        """Question and options of each."""
        return [
            [
                ("question", each.question),
                ("ask", each.ask),
                *(("option", text) for text in each.options),
            ]
            for each in self.choices
        ]

    def predicted_by(self, predictor: Predictor) -> Floats | Predictions:
        """The predictions of a model that chooses."""
        assert isinstance(predictor, Chooses)
        return predictor.predict_choices(self.choices)


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

    def segments(self) -> list[Segments]:
        """Their texts; of variants that move tokens the token numbers."""
        if not are_tokens(self.variants):
            return [text_segments(each) for each in self.given()]
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


def text_segments(texts: Texts) -> Segments:
    """The one or two texts of an input with their names."""
    a, b = texts
    return (("text_a", a),) if b is None else (("text_a", a), ("text_b", b))


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


def choices_of(variants: Variants) -> list[Choice]:
    """The questions of an example's variants: with other words, or with its options in another
    order.
    """
    assert variants.choice is not None
    if variants.b is None:
        return [replace(variants.choice, question=a) for a, _ in variant_texts(variants)]
    options = variants.a.sentence.words
    return [
        replace(variants.choice, options=tuple(options[i] for i in row))
        for row in variants.a.positions.tolist()
    ]


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
