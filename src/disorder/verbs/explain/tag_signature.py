"""Which word classes stand around a word? Its signature in a text, and its usual one in training
data.

UnNatural Language Inference (Sinha et al., 2021), section 6. ψ counts the universal classes within
a radius to the left and right, the word's own left out; β is the overlap of the k most frequent
ones in the text with those in the training data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from disorder.transformations.tags import UNIVERSAL
from disorder.types import Bools, Fidelity, Floats, Ints, Sentence

NUMBERS = {tag: i for i, tag in enumerate(UNIVERSAL)}


@dataclass(frozen=True, eq=False)
class Signatures:
    """ψ of each lower-cased word over a corpus, a row a word, and how many texts (released: places)
    it was seen in.
    """

    places: dict[str, int]
    psi: Floats
    n: Ints

    def of(self, words: Sequence[str]) -> Floats:
        """A row for each word; all 0 for one that was never seen."""
        rows = np.array([self.places.get(word.lower(), -1) for word in words], dtype=np.int64)
        return (
            np.where(rows[:, None] < 0, 0.0, self.psi[rows])
            if len(self.psi)
            else np.zeros((len(rows), len(UNIVERSAL)))
        )


def signatures(
    sentences: Sequence[Sentence], radius: int, *, fidelity: Fidelity = "paper"
) -> Signatures:
    """ψ over a corpus: the mean over texts of a word's share of each class; released weighs every
    neighbour alike.
    """
    places: dict[str, int] = {}
    sums, seen = list[Floats](), list[int]()
    for sentence in sentences:
        if not len(sentence):
            continue
        counts = neighbours_of(numbers_of(sentence)[None, :], radius)[0]
        words, which = np.unique([word.lower() for word in sentence.words], return_inverse=True)
        own = np.zeros((len(words), len(UNIVERSAL)))
        np.add.at(own, which, counts)
        if fidelity == "paper":
            own /= np.maximum(own.sum(axis=1, keepdims=True), 1)
        for word, row in zip(words.tolist(), own, strict=True):
            if word not in places:
                places[word] = len(sums)
                sums.append(np.zeros(len(UNIVERSAL)))
                seen.append(0)
            sums[places[word]] += row
            seen[places[word]] += 1
    psi = np.array(sums).reshape(-1, len(UNIVERSAL))
    return Signatures(
        places,
        psi / np.maximum(psi.sum(axis=1, keepdims=True), 1e-12),
        np.array(seen, dtype=np.int64),
    )


def numbers_of(sentence: Sentence) -> Ints:
    """The number of each word's class."""
    assert sentence.tags is not None
    return np.array(
        [NUMBERS.get(tag, NUMBERS["X"]) for tag in sentence.tags.tolist()], dtype=np.int64
    )


def neighbours_of(tags: Ints, radius: int) -> Ints:
    """How often each class stands within the radius of each word (texts × words × classes)."""
    is_class: Ints = (tags[:, :, None] == np.arange(len(UNIVERSAL))).astype(np.int64)
    found: Ints = np.zeros_like(is_class)
    n = tags.shape[1]
    for step in range(1, min(radius, n - 1) + 1):
        found[:, step:] += is_class[:, :-step]
        found[:, :-step] += is_class[:, step:]
    return found


def top(counts: Floats | Ints, k: int, *, fidelity: Fidelity = "paper") -> Bools:
    """The k most frequent classes; equal ones in alphabetical order.

    A class that is not there is none of them, but in the released form, which always takes k.
    """
    chosen = np.zeros(counts.shape, dtype=bool)
    first = np.argsort(-np.round(counts.astype(np.float64), 12), axis=-1, kind="stable")[..., :k]
    np.put_along_axis(chosen, first, True, axis=-1)
    return chosen if fidelity == "released" else chosen & (counts > 0)


def minitree_scores(
    sentence: Sentence,
    positions: Ints,
    trained: Signatures,
    *,
    k: int,
    radius: int,
    fidelity: Fidelity = "paper",
) -> Floats:
    """β of each row of positions: the mean over words of the overlap with the training data; 0 for
    a word never seen.
    """
    own = top(neighbours_of(numbers_of(sentence)[positions], radius), k, fidelity=fidelity)
    psi = trained.of(sentence.words)
    usual = top(psi, k, fidelity=fidelity) & (psi.sum(axis=1, keepdims=True) > 0)
    shared = (own & usual[positions]).sum(axis=-1)
    return np.asarray(
        (shared / (k if fidelity == "released" else np.maximum(own.sum(axis=-1), 1))).mean(axis=-1)
    )
