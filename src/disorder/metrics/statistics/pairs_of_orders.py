"""What an answer to a question follows when its options are put into other orders.

A question is taken for a mixture: of it θ follows the place, γ the content, the rest is guessed.
Pairs of different orders then have the same place with probability θ + γ p + (1 − θ − γ)/k, and the
same content with γ + θ p + (1 − θ − γ)/k, k the number of options and p the probability that an
option keeps its place in a different order. Both shares are counted, and solved for θ and γ. Two
options have two orders only, of which θ − γ alone is known, 0 for a guess: where all questions have
two, that is the number (−1 to 1), else the number is about the others.
"""

from __future__ import annotations

from math import factorial

import numpy as np

from disorder.errors import NothingToMeasure
from disorder.metrics.statistics.decomposition import Mean
from disorder.types import Bools, Floats, Ints, Outcomes

LEAST, MOST = -1.0, 1.5  # what either share of one question can come out as


def followed(outcomes: Outcomes, what: str) -> Mean:
    """The share of the answers that follow the place, or the content, of an option."""
    if outcomes.place is None or outcomes.order is None or outcomes.chance is None:
        raise NothingToMeasure("the options were not moved")
    is_given = outcomes.is_predicted & (outcomes.place >= 0)
    n_pairs = pair_counts(np.zeros_like(outcomes.order), is_given) - pair_counts(
        outcomes.order, is_given
    )
    same_place = _same(outcomes.place, outcomes.order, is_given)
    same_content = _same(outcomes.label.astype(np.int64), outcomes.order, is_given)
    is_two = np.rint(1 / outcomes.chance) == 2
    counts = (n_pairs > 0) & (~is_two | is_two.all())
    safe = np.maximum(n_pairs, 1)
    shares = [same_place / safe, same_content / safe]
    own, other = shares if what == "place" else shares[::-1]
    found = np.clip(_solved(own, other, outcomes.chance), LEAST, MOST)
    mean = Mean.over(
        (found - LEAST) / (MOST - LEAST),
        counts,
        otherwise="no question has answers to two different orders of its options",
    )
    scale = MOST - LEAST
    return Mean(mean.contributions, mean.counts, origin=-LEAST / scale, span=1 / scale)


def _solved(own: Floats, other: Floats, chance: Floats) -> Floats:
    """The share of a mixture that its own kind of agreement comes from."""
    n_orders = np.array([factorial(round(1 / each)) for each in chance.tolist()], dtype=np.float64)
    kept = (chance - 1 / n_orders) / (1 - 1 / n_orders)
    a, b = 1 - chance, kept - chance
    is_two = n_orders == 2
    inverse = np.where(is_two, 1.0, a**2 - b**2)
    found = (a * (own - chance) - b * (other - chance)) / inverse
    return np.where(is_two, own - other, found)


def _same(answers: Ints, order: Ints, is_given: Bools) -> Floats:
    """Pairs of different orders with the same answer."""
    width = int(order.max(initial=0)) + 1
    return pair_counts(answers, is_given) - pair_counts(answers * width + order, is_given)


def pair_counts(values: Ints, is_given: Bools) -> Floats:
    """For each example the number of pairs of given variants with the same value.

    >>> pair_counts(np.array([[0, 0, 1]]), np.ones((1, 3), dtype=bool))
    array([1.])
    """
    found = np.zeros(len(values))
    for value in np.unique(values[is_given]).tolist():
        n = ((values == value) & is_given).sum(axis=1)
        found += n * (n - 1) / 2
    return found
