"""Are orders counted exactly and drawn uniformly?"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from conftest import NLI, example
from disorder.randomness import generator
from disorder.transformations import parse
from disorder.transformations.derange import derangements
from disorder.transformations.positions.orders import (
    all_orders,
    expand,
    n_derangements,
    no_fixed_point,
    no_old_bigram,
    random_orders,
    without_old_bigrams,
)
from disorder.transformations.rendering import variant_texts
from disorder.types import Example

P = 1e-3  # seeds are fixed: a good generator fails once or never
N_DRAWS = 4000


def draw(spec: str, text: str, n: int) -> Counter[str]:
    """How often each text comes out first, over n examples that differ by id alone."""
    transformation = parse(spec)
    texts = (
        variant_texts(
            transformation.apply(Example.of(str(i), text, None, ""), task=NLI, q=1, seed=7)
        )
        for i in range(n)
    )
    return Counter(first[0][0] for first in texts)


def test_derangements_are_counted_as_the_formula_counts_them() -> None:
    assert [n_derangements(n) for n in range(7)] == [1, 0, 1, 2, 9, 44, 265]


@pytest.mark.parametrize("n", range(1, 8))
def test_the_formula_agrees_with_listing_them(n: int) -> None:
    assert int(no_fixed_point(all_orders(n)).sum()) == n_derangements(n)


def test_derange_is_uniform_over_the_nine_derangements_of_four_words() -> None:
    counts = draw("derange", "a b c d", N_DRAWS)
    assert len(counts) == 9
    assert chisquare(list(counts.values())).pvalue > P


def test_derange_puts_each_word_in_each_other_place_equally_often_where_orders_are_drawn() -> None:
    """From eight words on orders are drawn, not listed: word i goes to each of the 7 other places
    with equal chance.
    """
    rows = np.concatenate(
        [derangements(8, 1, generator(seed, "test"))[0] for seed in range(N_DRAWS)]
    )
    for place in range(8):
        counts = np.bincount(rows[:, place], minlength=8)
        assert counts[place] == 0
        assert chisquare(np.delete(counts, place)).pvalue > P


@pytest.mark.parametrize(("text", "n_valid"), [("a b c d", 11), ("a b c d e", 53)])
def test_shuffle_is_uniform_over_the_orders_without_an_old_bigram(text: str, n_valid: int) -> None:
    """Orders of n things without any i, i + 1 in a row: 1, 1, 3, 11, 53 for n = 1 … 5 (OEIS
    A000255).
    """
    counts = draw("shuffle", text, N_DRAWS)
    assert len(counts) == n_valid
    assert chisquare(list(counts.values())).pvalue > P


def test_shuffle_ngrams_is_uniform_over_every_order_but_the_first() -> None:
    counts = draw("shuffle_ngrams", "a b c d", N_DRAWS)
    assert len(counts) == 23  # 4! less the text itself
    assert chisquare(list(counts.values())).pvalue > P
    runs = draw("shuffle_ngrams:n=2", "a b c d e f", 1000)
    assert set(runs) == {"a b e f c d", "c d a b e f", "c d e f a b", "e f a b c d", "e f c d a b"}
    assert chisquare(list(runs.values())).pvalue > P


def test_random_orders_are_orders() -> None:
    rows = random_orders(12, 50, generator(0, "x"))
    assert (np.sort(rows, axis=1) == np.arange(12)).all()


def test_expand_keeps_runs_together() -> None:
    """Words 0 1 | 2 3 | 4 in the order of runs 2, 0, 1."""
    assert expand(np.array([0, 0, 1, 1, 2]), np.array([[2, 0, 1]])).tolist() == [[4, 0, 1, 2, 3]]


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=6))
def test_the_bigram_rule_agrees_with_looking(words: list[str]) -> None:
    kinds = np.array([ord(word) - ord("a") for word in words])
    old = set(pairwise(words))
    orders = all_orders(len(words))
    if len(words) == 1:
        assert not no_old_bigram(kinds)(orders).any()
        return
    seen = [
        not old & {(words[i], words[j]) for i, j in pairwise(p)}
        for p in permutations(range(len(words)))
    ]
    assert no_old_bigram(kinds)(orders).tolist() == seen


def test_draws_depend_on_seed_part_and_example_alone() -> None:
    text = example("one two three four five six seven eight nine ten")
    alone = variant_texts(parse("derange").apply(text, task=NLI, q=5, seed=3))
    parse("shuffle").apply(text, task=NLI, q=5, seed=3)
    np.random.default_rng().random(5)
    assert variant_texts(parse("derange").apply(text, task=NLI, q=5, seed=3)) == alone


def test_orders_of_a_long_text_are_not_counted() -> None:
    """The count of orders of n units has n log n digits, and counting takes n times as long."""
    text = " ".join(f"w{i}" for i in range(1_200))
    for spec in ("derange", "keep_bigrams:share=0.5"):
        variants = parse(spec).apply(Example.of("long", text, None, ""), task=NLI, q=2, seed=0)
        assert len(variants) == 2
        assert variants.available is None


def test_a_text_with_every_bigram_draws_nothing_to_find_that_out() -> None:
    """Letters of a long text stand beside nearly every other: bulk draws would all be thrown
    away.
    """

    class Counted:
        def __init__(self) -> None:
            self.rng = np.random.default_rng(0)
            self.drawn = 0

        def random(self, shape: tuple[int, int]) -> Any:
            self.drawn += shape[0]
            return self.rng.random(shape)

        def integers(self, high: int) -> Any:
            return self.rng.integers(high)

    rng: Any = Counted()
    kinds = np.random.default_rng(1).integers(0, 27, size=3_000)
    rows, available = without_old_bigrams(kinds, 3, rng)
    assert len(rows) == 0
    assert available is None
    assert rng.drawn == 3  # only the orders that are repaired
