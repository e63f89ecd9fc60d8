"""Minimal pairs are minimal: searches against listing every order, and models whose predictions
are known.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import pairs
from disorder.errors import BadSetting, DisorderError
from disorder.types import Floats, Ints
from disorder.verbs.explain import explain
from disorder.verbs.explain.neighbour_search import (
    NewReadings,
    Reordering,
    SearchResult,
    largest,
    moves,
    picked_up,
    random_steps,
    size_of,
    smallest,
    swaps,
    together,
)

Write = Callable[..., Path]
LABELS = ("entailment", "neutral", "contradiction")


def longest_run(order: list[int]) -> int:
    """The longest run that stands in order, by looking at all of them."""
    best = [1] * len(order)
    for i, word in enumerate(order):
        best[i] = 1 + max((best[j] for j in range(i) if order[j] < word), default=0)
    return max(best, default=0)


@given(st.permutations(range(9)))
def test_words_picked_up_are_all_but_the_longest_run_in_order(order: list[int]) -> None:
    moved = picked_up(np.array(order))
    assert moved.sum() == len(order) - longest_run(order)
    kept = np.array(order)[~moved]
    assert (np.diff(kept) > 0).all()


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
def test_moves_and_swaps_are_all_there_are(n: int) -> None:
    every = {
        order for order in permutations(range(n)) if len(order) - longest_run(list(order)) == 1
    }
    found = [[tuple(order.tolist()) for order in group] for group in moves(n)]
    assert {order for group in found for order in group} == every
    assert sum(map(len, found)) == len(every)
    assert [{size_of(np.array(order))[1] for order in group} for group in found] == [
        {2 * far} for far in range(1, n)
    ]
    two = {
        order
        for order in permutations(range(n))
        if sum(i != word for i, word in enumerate(order)) == 2
    }
    adjacent = {order for order in two if order in every}
    assert {tuple(order.tolist()) for group in swaps(n) for order in group} == two - adjacent


def test_random_steps_are_moves_and_swaps() -> None:
    every = {order.tobytes() for group in (*moves(5), *swaps(5)) for order in group}
    assert {step.tobytes() for step in random_steps(5, 2000, np.random.default_rng(0))} == every


def search(
    kind: Any, n: int, flips: Callable[[Ints], bool], *, budget: int = 500, seed: int = 0
) -> tuple[Reordering | None, int]:
    """What a search finds when a rule says which orders flip the prediction, and after how many
    model calls.
    """
    asked = []

    def predict(wanted: list[tuple[int, Ints]]) -> list[Floats]:
        asked.extend(order for _, orders in wanted for order in orders)
        return [
            np.array([[0.2, 0.8] if flips(order) else [0.9, 0.1] for order in orders])
            for _, orders in wanted
        ]

    [searched] = together(
        [kind(np.arange(n), 0, budget=budget, rng=np.random.default_rng(seed))], predict
    )
    assert searched.n_calls == len(asked)
    assert len({order.tobytes() for order in asked}) == len(asked), "nothing is predicted twice"
    return searched.found, len(asked)


@given(st.integers(0, 2**32 - 1))
def test_the_smallest_is_the_smallest_of_all_where_one_word_is_enough(seed: int) -> None:
    n, rng = 5, np.random.default_rng(seed)
    orders = np.array(list(permutations(range(n))))
    flipping = {order.tobytes() for order in orders[rng.random(len(orders)) < 0.1]} - {
        np.arange(n).tobytes()
    }
    found, _ = search(smallest, n, lambda order: order.tobytes() in flipping)
    sizes = [Reordering(order, 1, 0.8).size for order in orders if order.tobytes() in flipping]
    if sizes and min(sizes)[0] == 1:
        assert found is not None
        assert found.is_extreme
        assert found.size == min(sizes)
    elif found is not None:
        assert found.size >= min(sizes)
        assert not found.is_extreme


def test_a_far_swap_is_found_after_the_moves() -> None:
    found, n_calls = search(smallest, 8, lambda order: order[1] == 6 and order[6] == 1)
    assert found is not None
    assert found.order.tolist() == [0, 6, 2, 3, 4, 5, 1, 7]
    assert found.size == (2, 10)
    assert n_calls > (8 - 1) ** 2


def test_the_beam_finds_what_takes_more_steps() -> None:
    def flips(order: Ints) -> bool:
        return int(picked_up(order).sum()) >= 3

    found, n_calls = search(smallest, 7, flips, budget=400)
    assert found is not None
    assert found.size[0] == 3
    assert n_calls <= 400


@pytest.mark.parametrize("budget", [1, 7, 40])
@pytest.mark.parametrize("kind", [smallest, largest])
def test_a_search_keeps_to_its_budget(kind: Any, budget: int) -> None:
    found, n_calls = search(kind, 9, lambda order: kind is largest, budget=budget)
    assert found is None
    assert 0 < n_calls <= budget


def test_backwards_is_the_largest() -> None:
    found, _ = search(largest, 9, lambda order: False)
    assert found is not None
    assert found.order.tolist() == list(range(9))[::-1]
    assert found.is_extreme


def test_after_backwards_the_largest_has_one_word_moved() -> None:
    found, _ = search(largest, 9, lambda order: order.tolist() == list(range(9))[::-1])
    assert found is not None
    assert found.size == (7, 40)
    assert found.is_extreme


@given(st.integers(0, 2**32 - 1), st.floats(0.05, 0.95))
def test_the_largest_is_the_largest_of_all_where_that_is_claimed(seed: int, share: float) -> None:
    n, rng = 5, np.random.default_rng(seed)
    orders = np.array(list(permutations(range(n))))
    flipping = {order.tobytes() for order in orders[rng.random(len(orders)) < share]}
    found, _ = search(largest, n, lambda order: order.tobytes() in flipping)
    sizes = [size_of(order) for order in orders[1:] if order.tobytes() not in flipping]
    if found is not None:
        assert found.size in sizes
        assert not found.is_extreme or found.size == max(sizes)
    if orders[-1].tobytes() not in flipping:
        assert found is not None
        assert found.is_extreme


def test_what_is_found_far_down_is_made_larger_again() -> None:
    """The first two words must stand first: few random orders do, but a climb gets there."""
    found, n_calls = search(largest, 12, lambda order: order[:2].tolist() != [0, 1], budget=300)
    assert found is not None
    assert found.size[0] >= 8
    assert n_calls <= 300


def test_equal_words_never_pass_each_other() -> None:
    kinds = np.array([0, 1, 0, 2])
    fresh, is_all = NewReadings(kinds, 10).take(
        [np.array([3, 2, 1, 0]), np.array([3, 0, 1, 2]), np.array([2, 1, 0, 3])], 10
    )
    assert fresh.tolist() == [
        [3, 0, 1, 2]
    ]  # read backwards, only the last word was moved; and the others read the same
    assert is_all


@pytest.mark.parametrize(
    "kinds", [np.arange(4000), np.zeros(4000, dtype=np.int64), np.arange(4000) % 2]
)
@pytest.mark.parametrize("kind", [smallest, largest])
def test_a_long_text_costs_no_more_than_its_budget(kind: Any, kinds: Ints) -> None:
    def predict(wanted: list[tuple[int, Ints]]) -> list[Floats]:
        return [
            np.tile([0.9, 0.1] if kind is smallest else [0.1, 0.9], (len(orders), 1))
            for _, orders in wanted
        ]

    [searched] = together([kind(kinds, 0, budget=20, rng=np.random.default_rng(0))], predict)
    assert searched == SearchResult(None, searched.n_calls, False)
    assert searched.n_calls <= 20


def test_the_largest_comes_down_to_what_holds() -> None:
    found, _ = search(largest, 8, lambda order: int(picked_up(order).sum()) > 2)
    assert found is not None
    assert found.size[0] == 2
    assert not found.is_extreme


def first_word(texts: Any) -> list[list[float]]:
    """Entailment while the second text begins with its own first word."""
    return [[0.9, 0.05, 0.05] if b.startswith("ibis") else [0.1, 0.8, 0.1] for _, b in texts]


first_word.labels = LABELS  # type: ignore[attr-defined]


def test_a_model_that_reads_the_first_word_is_flipped_by_the_nearest_neighbour(
    jsonl: Write,
) -> None:
    found = explain(first_word, str(jsonl(pairs(12))), by="neighbours:shown=2")["neighbours"]
    assert found.scores["flipped by one word"].value == 1
    assert found.scores["unchanged backwards"].value == 0
    assert not found.notes
    rows = [row for row in found.tables[1].rows if row["kind"] == "smallest that flips"]
    assert {row["places passed"] for row in rows} == {2}
    assert all(row["is_proved"] and row["reordered"].startswith("hen ibis gnu fox") for row in rows)
    kept = [row for row in found.tables[1].rows if row["kind"] == "largest that does not"]
    assert all(row["reordered"].startswith("ibis") for row in kept)
    assert found.figures[0].drawn.count(">flipped<") == 2


def abstains(texts: Any) -> list[list[float]]:
    """Entailment while the second text begins with its own first word; else it abstains."""
    return [
        [0.9, 0.05, 0.05, 0.0] if b.startswith("ibis") else [0.1, 0.1, 0.1, 0.7] for _, b in texts
    ]


abstains.labels = (*LABELS, "invalid")  # type: ignore[attr-defined]


def test_abstaining_is_another_prediction(jsonl: Write) -> None:
    found = explain(abstains, str(jsonl(pairs(12))), by="neighbours:shown=2")["neighbours"]
    assert found.scores["flipped by one word"].value == 1
    rows = [row for row in found.tables[1].rows if row["kind"] == "smallest that flips"]
    assert {(row["prediction after"], row["probability after"]) for row in rows} == {
        ("invalid", 0.7)
    }


def test_a_bag_of_words_is_never_flipped() -> None:
    found = explain("builtin:bow", by="neighbours:n=15,budget=60", limit=40)["neighbours"]
    assert found.scores["flipped within the budget"].value == 0
    assert found.scores["unchanged backwards"].value == 1
    assert found.notes[0].startswith(
        "for 14 of 15 predictions the budget of 60 model calls ended before every move of one word"
    )
    rows = [row for row in found.tables[1].rows if row["kind"] == "smallest that flips"]
    assert {row["model calls"] for row in rows if not row["is_thorough"]} == {60}
    assert sum(not row["is_thorough"] for row in rows) == 14
    assert ">flipped<" not in found.figures[0].drawn


def test_the_same_seed_finds_the_same_and_texts_are_escaped(jsonl: Write) -> None:
    rows = [row | {"text_b": f"<b>& {row['text_b']}"} for row in pairs(6)]
    seen = [
        explain(first_word, str(jsonl(rows)), by="neighbours:n=6", seed=3)["neighbours"]
        for _ in range(2)
    ]
    assert seen[0].figures[0].drawn == seen[1].figures[0].drawn
    assert seen[0].tables == seen[1].tables
    assert "<b>" not in seen[0].figures[0].drawn


def test_single_texts_work_and_short_ones_are_counted(jsonl: Write) -> None:
    found = explain("builtin", "builtin:sentiment", by="neighbours:n=10,budget=40", limit=30)[
        "neighbours"
    ]
    assert "text: " not in found.figures[0].drawn
    assert found.skips == {"fewer than 3 words, or not among the 10 that are searched": 20}
    path = jsonl([row | {"text_b": "Yes, no."} for row in pairs(6)])
    with pytest.raises(DisorderError, match="no text has 3 words"):
        explain(first_word, str(path), by="neighbours")
    with pytest.raises(BadSetting):
        explain("builtin", by="neighbours:n=0", limit=20)
