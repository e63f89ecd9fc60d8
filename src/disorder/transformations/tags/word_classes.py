"""Names of word classes: the seventeen universal ones, and the twelve of older work, which contain
them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disorder.errors import UnknownName
from disorder.types import Bools, Ints

UNIVERSAL = (
    "ADJ",
    "ADP",
    "ADV",
    "AUX",
    "CCONJ",
    "DET",
    "INTJ",
    "NOUN",
    "NUM",
    "PART",
    "PRON",
    "PROPN",
    "PUNCT",
    "SCONJ",
    "SYM",
    "VERB",
    "X",
)
# the older set of twelve: proper nouns are nouns there, auxiliaries verbs, subordinating
# conjunctions adpositions
OLDER = {
    "PROPN": "NOUN",
    "AUX": "VERB",
    "CCONJ": "CONJ",
    "SCONJ": "ADP",
    "PART": "PRT",
    "PUNCT": ".",
    "SYM": ".",
    "INTJ": "X",
}
KNOWN = {*UNIVERSAL, *OLDER.values()}


@dataclass(frozen=True, eq=False)
class Tags:
    """The word class of each word, and where the tagger parses, which words head a noun phrase."""

    tags: NDArray[np.str_]
    is_head: Bools | None = None

    @classmethod
    def of(cls, names: Sequence[str], is_head: Any = None) -> Tags:
        """Tags from a list of names."""
        return cls(np.array(names, dtype="U5"), is_head)


def classes_named(text: str) -> frozenset[str]:
    """The classes in `NOUN+VERB`, each of which must be one."""
    names = [name.strip().upper() for name in text.split("+")]
    for name in names:
        if name not in KNOWN:
            raise UnknownName("word class", name, KNOWN)
    return frozenset(names)


def is_of(tags: NDArray[np.str_], classes: frozenset[str]) -> Bools:
    """Which words belong to one of the classes, by its universal or its older name."""
    return np.array(
        [tag in classes or OLDER.get(tag) in classes for tag in tags.tolist()], dtype=bool
    )


def tokens_at(token_starts: Ints, places: Ints) -> Ints:
    """Which token of a tagger each place in the text lies in (or follows)."""
    return np.maximum(np.searchsorted(token_starts, places, side="right") - 1, 0)
