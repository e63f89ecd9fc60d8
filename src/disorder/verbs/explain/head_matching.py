"""Word-matching heads: which attention head ties like words of two texts? Out of Order, App. A.

In every head the 3 word pairs with the largest attention between the texts are taken; the head
whose 3 pairs are nearest in summed edit distance wins, of equals the one that attends more. Case
does not count, and punctuation and special tokens are out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from disorder.errors import MissingPackage
from disorder.models import Head, LoadedModel, attentions
from disorder.types import Floats, Ints, Pair, Sentence

N_PAIRS = 3  # word pairs looked at
MATCH = 4  # summed edit distance up to which they match


@dataclass(frozen=True)
class TiedWords:
    """The words of a pair of texts that a head ties together, as places among the words that are
    not punctuation.
    """

    head: Head
    ties: tuple[tuple[int, int], ...]
    distance: int

    @property
    def is_match(self) -> bool:
        """Whether the tied words are the same but for small changes."""
        return self.distance <= MATCH


def found_heads(
    model: LoadedModel, pairs: Sequence[Pair], heads: Sequence[Head] | None = None
) -> list[TiedWords]:
    """The winning head of every pair; or, with `heads`, what the given head of each pair ties
    together.
    """
    given: dict[int, TiedWords] = {}

    def look(i: int, weights: Floats) -> None:
        a, b = (side.movable for side in pairs[i].sides)
        only = None if heads is None else heads[i]
        given[i] = _best(weights[:, :, a][:, :, :, b], distances(pairs[i]), only)

    attentions(model, pairs, look)
    return [given[i] for i in range(len(pairs))]


def _best(weights: Floats, apart: Ints, only: Head | None) -> TiedWords:
    flat = weights.reshape(*weights.shape[:2], -1)
    top = np.argsort(-flat, axis=-1, kind="stable")[..., :N_PAIRS]
    sums = apart.ravel()[top].sum(axis=-1)
    strength = np.take_along_axis(flat, top, axis=-1).sum(axis=-1)
    best = only or np.unravel_index(np.lexsort((-strength.ravel(), sums.ravel()))[0], sums.shape)
    layer, head = int(best[0]), int(best[1])
    ties = [divmod(int(place), apart.shape[1]) for place in top[layer, head]]
    return TiedWords((layer, head), tuple(ties), int(sums[layer, head]))


def distances(pair: Pair) -> Ints:
    """Edit distance from each word of the first text to each of the second."""
    first, second = (_spoken(side) for side in pair.sides)
    levenshtein = _fuzz().distance.Levenshtein.distance
    return np.asarray(_fuzz().process.cdist(first, second, scorer=levenshtein), dtype=np.int64)


def _spoken(sentence: Sentence) -> list[str]:
    """The words that are not punctuation, ignoring case."""
    return [sentence.words[i].casefold() for i in sentence.movable.tolist()]


def _fuzz() -> Any:
    try:
        import rapidfuzz
    except ImportError as error:
        raise MissingPackage("heads", "rapidfuzz", "explain") from error
    return rapidfuzz
