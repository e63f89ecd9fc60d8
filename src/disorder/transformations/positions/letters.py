"""Letters inside words: which of them may change, and their orders.

For sentences of characters, whose `groups` say which word each stands in. Costs grow with the
number of characters, not with its square.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np
from numpy.random import Generator

from disorder.errors import BadSetting, DoesNotApply
from disorder.registry import transformation
from disorder.types import Bools, Ints, PositionRows, Sentence

Kept = Literal["none", "first", "ends"]
ROUNDS = 64  # draws for a word until it reads differently; every second one does at least

F = TypeVar("F", bound=Callable[..., PositionRows])


def letter_transformation(*, destroys: str, drawn_as: str = "") -> Callable[[F], F]:
    """Register a transformation that changes letters and leaves words in their places."""
    return transformation(
        keeps="the place and length of every word",
        destroys=destroys,
        side="task",
        draws=10,
        suites=("characters",),
        sweep=("keep=none", "keep=first", "keep=ends"),
        words={"paper": "characters"},
        shows=("keep",),
        nested=("share",),
        drawn_as=drawn_as,
    )


@dataclass(frozen=True, eq=False)
class ChangedWords:
    """The letters that may change: `is_open` has a row per variant, a column per character."""

    is_open: Bools
    is_letter: Bools


@dataclass(frozen=True, eq=False)
class Alphabet:
    """The letters of a text: their kinds, in ascending order, and a place where each stands."""

    kinds: Ints
    places: Ints

    def __len__(self) -> int:
        return len(self.kinds)


def changed_words(
    part: str, sentence: Sentence, keep: Kept, share: float, count: int, rng: Generator
) -> ChangedWords:
    """A random share of the words in each variant, of those that have two different letters to
    move; the words of a smaller share are among those of a larger one.
    """
    if not 0 < share <= 1:
        raise BadSetting(part, share=share, need="a share above 0, at most 1")
    if sentence.groups is None:
        raise BadSetting(part, unit="another", need="characters: it changes the letters of words")
    is_letter = np.array([unit[0].isalpha() for unit in sentence.words], dtype=bool)
    is_letter &= sentence.groups >= 0
    is_inner = is_letter & ~_kept(sentence.groups, is_letter, keep)
    able = _able(sentence.groups, sentence.kinds, is_inner)
    if not len(able):
        raise DoesNotApply("no word has two different letters to move")
    ranks = np.argsort(np.argsort(rng.random((count, len(able))), axis=1), axis=1)
    is_chosen = ranks < max(1, round(share * len(able)))
    number = np.searchsorted(able, sentence.groups)
    is_able = np.isin(sentence.groups, able)
    columns = np.where(is_able, number, 0)
    return ChangedWords(is_inner & is_able & is_chosen[:, columns], is_letter)


def _kept(groups: Ints, is_letter: Bools, keep: Kept) -> Bools:
    """The letters that stay: the first of each word, or the first and the last."""
    kept = np.zeros(len(groups), dtype=bool)
    places = np.flatnonzero(is_letter)
    if keep == "none" or not len(places):
        return kept
    begins = np.append(True, groups[places[1:]] != groups[places[:-1]])
    kept[places[begins]] = True
    if keep == "ends":
        kept[places[np.append(begins[1:], True)]] = True
    return kept


def _able(groups: Ints, kinds: Ints, is_inner: Bools) -> Ints:
    """The words with two different letters at places that are not kept, in ascending order."""
    places = np.flatnonzero(is_inner)
    is_mixed = (groups[places[1:]] == groups[places[:-1]]) & (
        kinds[places[1:]] != kinds[places[:-1]]
    )
    return np.unique(groups[places[1:]][is_mixed])


def shuffled_letters(sentence: Sentence, words: ChangedWords, rng: Generator) -> Ints:
    """Rows in which the open letters of each word are in a random order that reads differently."""
    assert sentence.groups is not None
    groups = sentence.groups
    kinds = sentence.kinds
    rows = np.tile(np.arange(len(sentence)), (len(words.is_open), 1))
    for row, is_open in zip(rows, words.is_open, strict=True):
        places = np.flatnonzero(is_open)  # in ascending order, so word by word
        for _ in range(ROUNDS):
            row[places] = places[np.lexsort((rng.random(len(places)), groups[places]))]
            changed = groups[places][kinds[row[places]] != kinds[places]]
            places = places[~np.isin(groups[places], changed)]
            if not len(places):
                break
    return rows


def alphabet(sentence: Sentence, words: ChangedWords) -> Alphabet:
    """The letters of the text, each with a place where it stands, in lower case if it ever does."""
    places = np.flatnonzero(words.is_letter)
    is_upper = np.array([sentence.words[i].isupper() for i in places.tolist()], dtype=bool)
    order = places[np.argsort(is_upper, kind="stable")]
    kinds, first = np.unique(sentence.kinds[order], return_index=True)
    return Alphabet(kinds, order[first])
