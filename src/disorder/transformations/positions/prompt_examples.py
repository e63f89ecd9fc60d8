"""The examples of a prompt, written as one text, and other orders of them or of their answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import factorial, prod
from typing import TypeVar

from numpy.random import Generator

from disorder.errors import DoesNotApply
from disorder.types import AFTER_ANSWER, BEFORE_ANSWER, Sentence

T = TypeVar("T", int, str)


def examples_of(sentence: Sentence) -> list[tuple[str, str]]:
    """Each example and its answer."""
    *parts, rest = sentence.text.split(AFTER_ANSWER)
    found = [part.rpartition(BEFORE_ANSWER) for part in parts]
    if not found or rest.strip() or not all(mark for _, mark, _ in found):
        raise DoesNotApply("it has no examples of a prompt")
    return [(item.strip(), answer.strip()) for item, _, answer in found]


def written(examples: Sequence[tuple[str, str]]) -> str:
    """Examples with their answers as one text."""
    return "\n".join(f"{item} {BEFORE_ANSWER} {answer} {AFTER_ANSWER}" for item, answer in examples)


def reordered(things: Sequence[T], count: int, rng: Generator) -> tuple[list[list[T]], int]:
    """Up to `count` different orders of things, none their own, and how many there are."""
    repeats = Counter(things).values()
    available = factorial(len(things)) // prod(map(factorial, repeats)) - 1
    found: dict[tuple[T, ...], None] = {}
    own = tuple(things)
    while len(found) < min(count, available):
        order = tuple(things[i] for i in rng.permutation(len(things)).tolist())
        if order != own:
            found.setdefault(order)
    return [list(order) for order in found], available
