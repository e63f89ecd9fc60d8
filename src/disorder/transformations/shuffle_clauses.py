"""Shuffle each clause by itself: does a model read order within clauses?

A rung of the ladder: order between clauses is kept, order within them is lost.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from disorder.registry import transformation
from disorder.transformations.positions.orders_within_groups import shuffled_within
from disorder.transformations.tags import is_of
from disorder.types import Bools, Ints, PositionRows, Sentence

# The Chinese 、 stands between the items of a list, and bounds nothing
BOUNDS = frozenset(",;:.!?…—–，；：。！？")
CLOSERS = "\"'”’»)]"  # what may follow such a mark
CONJUNCTIONS = frozenset({"CCONJ", "SCONJ"})
VERBS = frozenset({"VERB", "AUX"})


@transformation(
    keeps="words, each within its clause",
    keeps_words=True,
    destroys="order within clauses",
    side="task",
    draws=10,
    suites=("ladder",),
    needs=("tags",),
    tagger={"en": "at_hand"},
)
def shuffle_clauses(sentence: Sentence, rng: Generator, count: int) -> PositionRows:
    """Shuffle the words of each clause among themselves; punctuation stays.

    A clause ends at a comma, semicolon, colon, dash or the end of a sentence, and before a
    conjunction that has a verb on either side (so "cats and dogs" is not cut). A text of one clause
    is shuffled as a whole.
    """
    return shuffled_within(sentence, clauses(sentence), count, rng)


def clauses(sentence: Sentence) -> Ints:
    """The number of each word's clause; punctuation marks have numbers of their own, below 0."""
    assert sentence.tags is not None
    conjunctions = is_of(sentence.tags, CONJUNCTIONS)
    verbs = is_of(sentence.tags, VERBS)
    marks = sentence.is_punctuation
    ends = marks & np.array(
        [not BOUNDS.isdisjoint(word) or word.startswith("--") for word in sentence.words],
        dtype=bool,
    )
    closes = _closing(sentence)
    begins = ends | np.append(False, closes)[: len(sentence)]
    bounds = (ends & marks) | closes
    for i in np.flatnonzero(conjunctions & ~marks).tolist():
        has_verb_before = _last(begins, i) < _last(verbs, i)
        has_verb_after = _first(verbs, i + 1) < _first(bounds, i)
        begins[i] |= has_verb_before and has_verb_after
    return np.where(marks, -1 - np.arange(len(sentence)), np.cumsum(begins))


def _closing(sentence: Sentence) -> Bools:
    """Units that end a clause by a mark glued to them."""
    if not sentence.keeps_gaps:
        return np.zeros(len(sentence), dtype=bool)
    bare = [word.rstrip(CLOSERS) for word in sentence.words]
    ends_in_mark = np.array([word[-1:] in BOUNDS for word in bare], dtype=bool)
    return np.asarray(ends_in_mark & ~sentence.is_punctuation)


def _last(are: Bools, i: int) -> int:
    """The last place before i of which it is true, or −1."""
    found = np.flatnonzero(are[:i])
    return int(found[-1]) if len(found) else -1


def _first(are: Bools, i: int) -> int:
    """The first place from i on of which it is true, or one past the end."""
    found = np.flatnonzero(are[i:])
    return i + int(found[0]) if len(found) else len(are)
