"""The examples of a prompt as units, and other orders of them or of their answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import factorial, prod
from typing import TypeVar

import numpy as np
from numpy.random import Generator

from disorder.errors import DoesNotApply
from disorder.types import Sentence, Shots

T = TypeVar("T", int, str)


def shots_sentence(shots: Shots) -> Sentence:
    """The examples of a prompt as a sentence whose units are each example and its answer in turn.

    >>> shots_sentence((("A dog.", "yes"), ("A cat.", "no"))).words
    ['A dog.', 'yes', 'A cat.', 'no']
    """
    units = [unit for shot in shots for unit in shot]
    lengths = np.array([len(unit) for unit in units], dtype=np.int64)
    ends = np.cumsum(lengths + 1) - 1  # a space, or the end of a line, stands between two
    n = len(units)
    return Sentence(
        text="\n".join(" ".join(shot) for shot in shots),
        starts=ends - lengths,
        ends=ends,
        is_punctuation=np.zeros(n, dtype=bool),
        is_spaced=np.ones(n, dtype=bool),
        joint="\n",
        is_shots=True,
    )


def items_sentence(items: Sequence[str]) -> Sentence:
    """The items of a list as a sentence whose units they are.

    >>> items_sentence(("a cat", "a dog")).words
    ['a cat', 'a dog']
    """
    lengths = np.array([len(item) for item in items], dtype=np.int64)
    ends = np.cumsum(lengths + 1) - 1
    n = len(items)
    return Sentence(
        text="\n".join(items),
        starts=ends - lengths,
        ends=ends,
        is_punctuation=np.zeros(n, dtype=bool),
        is_spaced=np.ones(n, dtype=bool),
        joint="\n",
    )


def check_shots(sentence: Sentence) -> None:
    """Raise where a sentence is not the examples of a prompt."""
    if not sentence.is_shots:
        raise DoesNotApply("it has no examples of a prompt")


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
