"""Ranking scores: nDCG@k (Järvelin and Kekäläinen, 2002), reciprocal rank, recall@k, as trec_eval
computes them, and what a random order of the documents scores.

A ranking is given by the places of its relevant documents, from 1; 0 stands for one that was not
among the ranked ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from disorder.errors import UnknownName
from disorder.types import Floats, Ints

USUAL_CUT = 10


def discounts(k: int) -> Floats:
    """What a document at each of the first k places counts."""
    return np.asarray(1 / np.log2(np.arange(2, k + 2)))


def ideal(grades: Floats, k: int) -> float:
    """The gain of the best order."""
    best = np.sort(grades)[::-1][:k]
    return float((best * discounts(len(best))).sum())


def ndcg(places: Ints, grades: Floats, *, k: int) -> float:
    """The gain of the first k documents, as a share of that of the best order.

    >>> round(ndcg(np.array([2]), np.array([1.0]), k=10), 3)
    0.631
    """
    counts = (places > 0) & (places <= k)
    gained = grades[counts] / np.log2(places[counts] + 1)
    return float(gained.sum()) / ideal(grades, k)


def mrr(places: Ints, grades: Floats, *, k: int) -> float:
    """One divided by the place of the first relevant document; 0 where none is among the first k.

    >>> mrr(np.array([4, 2]), np.array([1.0, 1.0]), k=10)
    0.5
    """
    found = places[(places > 0) & (places <= k)]
    return 1 / float(found.min()) if len(found) else 0.0


def recall(places: Ints, grades: Floats, *, k: int) -> float:
    """The share of the relevant documents that are among the first k.

    >>> recall(np.array([4, 12]), np.array([1.0, 1.0]), k=10)
    0.5
    """
    return float(((places > 0) & (places <= k)).mean())


def ndcg_by_chance(ranked: Floats, grades: Floats, n: int, *, k: int) -> float:
    """nDCG@k of a random order of n documents, of which those with the grades `ranked` count."""
    per_place = float(discounts(min(k, n)).sum()) / n if n else 0.0
    return float(ranked.sum()) * per_place / ideal(grades, k)


def mrr_by_chance(ranked: Floats, grades: Floats, n: int, *, k: int) -> float:
    """The reciprocal rank of a random order.

    >>> round(mrr_by_chance(np.ones(1), np.ones(1), 4, k=10), 4)  # (1 + 1/2 + 1/3 + 1/4) / 4
    0.5208
    """
    total = 0.0
    none_yet = 1.0
    for place in range(1, min(k, n) + 1):
        left = n - place + 1
        here = min(1.0, len(ranked) / left)
        total += none_yet * here / place
        none_yet *= 1 - here
    return total


def recall_by_chance(ranked: Floats, grades: Floats, n: int, *, k: int) -> float:
    """recall@k of a random order."""
    return len(ranked) / len(grades) * min(k, n) / n if n else 0.0


SCORES: dict[str, tuple[Callable[..., float], Callable[..., float]]] = {
    "ndcg": (ndcg, ndcg_by_chance),
    "mrr": (mrr, mrr_by_chance),
    "recall": (recall, recall_by_chance),
}


@dataclass(frozen=True)
class RankingScore:
    """A score of rankings that looks at the first k documents, and what a random order gets."""

    measure: str
    k: int

    @classmethod
    def named(cls, given: str) -> RankingScore:
        """The score of a name such as ndcg@10; without a number it looks at 10 documents."""
        name, _, cut = given.partition("@")
        if name not in SCORES or (cut and not (cut.isdecimal() and int(cut))):
            known = [f"{each}@{USUAL_CUT}" for each in SCORES]
            raise UnknownName("match for rankings", given, known)
        return cls(name, int(cut) if cut else USUAL_CUT)

    @property
    def __name__(self) -> str:
        return f"{self.measure}@{self.k}"

    def __call__(self, places: Ints, grades: Floats, /) -> float:
        """The score of a ranking: the places of its relevant documents, and their grades."""
        return SCORES[self.measure][0](places, grades, k=self.k)

    def by_chance(self, ranked: Floats, grades: Floats, n: int) -> float:
        """What a random order of n documents gets, the relevant ones with the grades `ranked`."""
        return SCORES[self.measure][1](ranked, grades, n, k=self.k)
