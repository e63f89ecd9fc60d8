"""What an answer to a question follows when its options are put into other orders.

A question is taken for a mixture: of it θ follows the place, γ the content, the rest is guessed.
Pairs of different orders then have the same place with probability θ + γ p + (1 − θ − γ)/k, and the
same content with γ + θ p + (1 − θ − γ)/k, k the number of options and p the probability that an
option keeps its place in a different order. Both shares are counted, and solved for θ and γ. Two
options have two orders only, of which θ − γ alone is known, 0 for a guess: where all questions have
two, that is the number (−1 to 1), else the number is about the others.

Beside it stands the accuracy by the place of the right option. The highest minus the lowest is
never 0, even where places have no effect; so it is shown with what it would be if the places, which
are drawn at random, were dealt again and again within each question.
"""

from __future__ import annotations

from math import factorial
from typing import TypedDict

import numpy as np

from disorder.errors import NothingToMeasure
from disorder.metrics.statistics.decomposition import Mean
from disorder.randomness import generator
from disorder.types import Bools, Floats, Ints, Outcomes

MANY = 20  # options whose number of orders is as good as endless
LEAST, MOST = -1.0, 1.5  # what either share of one question can come out as


def followed(outcomes: Outcomes, what: str) -> Mean:
    """The share of the answers that follow the place, or the content, of an option."""
    if outcomes.place is None or outcomes.order is None or outcomes.n_movable is None:
        raise NothingToMeasure("the options were not moved")
    is_given = outcomes.is_predicted & (outcomes.place >= 0)
    n_pairs = pair_counts(np.zeros_like(outcomes.order), is_given) - pair_counts(
        outcomes.order, is_given
    )
    same_place = _same(outcomes.place, outcomes.order, is_given)
    same_content = _same(outcomes.label.astype(np.int64), outcomes.order, is_given)
    n_options = np.maximum(outcomes.n_movable, 2)
    is_two = n_options == 2
    counts = (n_pairs > 0) & (~is_two | is_two.all())
    safe = np.maximum(n_pairs, 1)
    shares = [same_place / safe, same_content / safe]
    own, other = shares if what == "place" else shares[::-1]
    found = np.clip(_solved(own, other, n_options), LEAST, MOST)
    mean = Mean.over(
        (found - LEAST) / (MOST - LEAST),
        counts,
        otherwise="no question has answers to two different orders of its options",
    )
    scale = MOST - LEAST
    return Mean(mean.contributions, mean.counts, origin=-LEAST / scale, span=1 / scale)


def _solved(own: Floats, other: Floats, n_options: Ints) -> Floats:
    """The share of a mixture that its own kind of agreement comes from."""
    chance = 1 / n_options
    n_orders = np.array([factorial(min(each, MANY)) for each in n_options.tolist()], dtype=float)
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


N_DRAWS = 999
FEWEST = 10  # variants with the right option in a place, for a share of them


class ByPlace(TypedDict):
    """Accuracy for each place and how many variants it is of; the highest minus the lowest, its
    mean where places have no effect, and the share of such draws in which it is as large.
    """

    accuracy: list[float]
    n: list[int]
    gap: float
    gap_without_effect: float
    p: float


def accuracy_by_place(outcomes: Outcomes) -> ByPlace | None:
    """The accuracy for each place of the right option; None where fewer than two have enough."""
    assert outcomes.right_place is not None
    has_moved = (outcomes.right_place != outcomes.right_place[:, :1]).any(axis=1)
    complete = outcomes.is_predicted.all(axis=1) & has_moved
    place = outcomes.right_place[complete]
    right = (outcomes.label == outcomes.gold[:, None])[complete].astype(np.float64)
    counts = np.bincount(place.ravel(), minlength=1) if place.size else np.zeros(1, dtype=np.int64)
    n_places = len(counts)
    enough = counts >= FEWEST
    if enough.sum() < 2:
        return None
    rng = generator(outcomes.seed, "places", outcomes.transformation)
    found = _accuracies(right, place, n_places)
    gap = _gap(found[enough])
    drawn = [
        _gap(_accuracies(right, rng.permuted(place, axis=1), n_places)[enough])
        for _ in range(N_DRAWS)
    ]
    as_large = sum(each >= gap - 1e-12 for each in drawn)
    return {
        "accuracy": [round(each, 6) for each in found.tolist()],
        "n": counts.tolist(),
        "gap": round(gap, 6),
        "gap_without_effect": round(float(np.mean(drawn)), 6),
        "p": (1 + as_large) / (1 + N_DRAWS),
    }


def _accuracies(right: Floats, place: Ints, n_places: int) -> Floats:
    sums = np.bincount(place.ravel(), weights=right.ravel(), minlength=n_places)
    counts = np.bincount(place.ravel(), minlength=n_places)
    return np.asarray(sums / np.maximum(counts, 1))


def _gap(accuracies: Floats) -> float:
    return float(accuracies.max() - accuracies.min())
