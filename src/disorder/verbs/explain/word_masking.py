"""Texts with words left out: what LIME and leave-one-out show the model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from disorder.transformations.rendering import render
from disorder.transformations.words import split
from disorder.types import Bools, Floats, Ints, Pair, Sentence, Texts


def cut(texts: Texts) -> Pair:
    """A text or pair, cut into words."""
    first, second = texts
    return Pair(split(first), None if second is None else split(second))


def n_words(pair: Pair) -> int:
    """How many words a pair has, punctuation not counted."""
    return sum(len(side.movable) for side in pair.sides)


def by_side(pair: Pair, scores: Floats) -> list[Floats]:
    """Scores of the words of a pair as one array per text, 0 for punctuation."""
    found = [np.zeros(len(side)) for side in pair.sides]
    for array, side, part in zip(found, pair.sides, np.split(scores, _cuts(pair)), strict=True):
        array[side.movable] = part
    return found


def masked(pair: Pair, kept: Bools) -> list[Texts]:
    """The pair with words left out, once per row of `kept`."""
    parts = np.split(kept, _cuts(pair), axis=1)
    first, *rest = [_rendered(side, part) for side, part in zip(pair.sides, parts, strict=True)]
    second: Sequence[str | None] = rest[0] if rest else [None] * len(first)
    return list(zip(first, second, strict=True))


def _cuts(pair: Pair) -> Ints:
    """Where the words of the second text begin among those of both."""
    return np.cumsum([len(side.movable) for side in pair.sides])[:-1]


def _rendered(sentence: Sentence, kept: Bools) -> list[str]:
    """The texts that keep these words and all punctuation; rows of one length are rendered
    together.
    """
    stays = np.ones((len(kept), len(sentence)), dtype=bool)
    stays[:, sentence.movable] = kept
    lengths = stays.sum(axis=1)
    texts = np.empty(len(kept), dtype=object)
    for length in np.unique(lengths).tolist():
        rows = np.flatnonzero(lengths == length)
        texts[rows] = render(sentence, stays[rows].nonzero()[1].reshape(len(rows), length))
    found: list[str] = texts.tolist()
    return found
