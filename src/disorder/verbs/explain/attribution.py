"""How much of the answer's probability does each word carry? What all ways to weigh words share:
texts in, a number a word out.

A way to weigh words is a function of the subject, pairs cut into words, and the column of the label
that is explained. It gives an array for each text of each pair: the number is positive for words
that speak for the label. Punctuation is never left out, and its number does not count.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from disorder.transformations.rendering import render
from disorder.transformations.words import split
from disorder.types import Bools, Floats, Ints, Pair, Sentence, Texts
from disorder.verbs.explain.subject import Subject

Weigh = Callable[[Subject, Sequence[Pair], Ints], list[list[Floats]]]


@dataclass(frozen=True, eq=False)
class Weighed:
    """The words of one example, both texts in a row, and what each carries."""

    words: tuple[str, ...]
    side: tuple[str, ...]
    scores: Floats

    @property
    def size(self) -> float:
        """Mean |attribution| of a word."""
        return float(np.abs(self.scores).mean())

    @property
    def top(self) -> int:
        """The word that speaks most for the answer; of equals the first."""
        return int(self.scores.argmax())


def cut(texts: Texts) -> Pair:
    """A text or pair, cut into words."""
    first, second = texts
    return Pair(split(first), None if second is None else split(second))


def n_words(pair: Pair) -> int:
    """How many words there are to weigh."""
    return sum(len(side.movable) for side in pair.sides)


def weighed(pair: Pair, scores: Sequence[Floats]) -> Weighed:
    """The words of a pair with their numbers, punctuation left away."""
    words = [side.words[i] for side in pair.sides for i in side.movable.tolist()]
    sides = [name for name, side in zip("ab", pair.sides, strict=False) for _ in side.movable]
    kept = [found[side.movable] for found, side in zip(scores, pair.sides, strict=True)]
    return Weighed(tuple(words), tuple(sides), np.concatenate(kept))


def by_side(pair: Pair, scores: Floats) -> list[Floats]:
    """Scores of words as one array a text, 0 for punctuation."""
    found = [np.zeros(len(side)) for side in pair.sides]
    cuts = np.cumsum([len(side.movable) for side in pair.sides])[:-1]
    for array, side, part in zip(found, pair.sides, np.split(scores, cuts), strict=True):
        array[side.movable] = part
    return found


def masked(pair: Pair, kept: Bools) -> list[Texts]:
    """The pair with words left out, one a row of `kept`."""
    cuts = np.cumsum([len(side.movable) for side in pair.sides])[:-1]
    first, *rest = [
        _rendered(side, part)
        for side, part in zip(pair.sides, np.split(kept, cuts, axis=1), strict=True)
    ]
    second: Sequence[str | None] = rest[0] if rest else [None] * len(first)
    return list(zip(first, second, strict=True))


def _rendered(sentence: Sentence, kept: Bools) -> list[str]:
    """The texts that keep these words and all punctuation; rows of one length are written together."""
    stays = np.ones((len(kept), len(sentence)), dtype=bool)
    stays[:, sentence.movable] = kept
    lengths = stays.sum(axis=1)
    texts = np.empty(len(kept), dtype=object)
    for length in np.unique(lengths).tolist():
        rows = np.flatnonzero(lengths == length)
        texts[rows] = render(sentence, stays[rows].nonzero()[1].reshape(len(rows), length))
    found: list[str] = texts.tolist()
    return found
