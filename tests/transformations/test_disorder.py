"""Disorder is 0 for the original order, 1 for the worst, and the same however it is counted."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import NLI, example
from disorder.transformations import parse
from disorder.transformations.positions.disorder import (
    FEW,
    disorder_of,
    inversions,
    kendall,
    variant_disorder,
)
from disorder.transformations.words import split
from disorder.types import DISORDER, PositionRows


def measured(text: str, *rows: list[int]) -> dict[str, list[float]]:
    sentence = split(text)
    found = disorder_of(PositionRows(sentence, np.array(rows, dtype=np.int64)))
    return {name: values.round(6).tolist() for name, values in found.items()}


def test_known_values() -> None:
    found = measured("a bb ccc d", [0, 1, 2, 3], [3, 2, 1, 0], [1, 0, 2, 3], [1, 2, 3, 0])
    assert found["global_disorder"] == [0.0, 1.0, 0.25, 0.75]
    assert found["local_disorder"] == [0.0, 1.0, 0.666667, 0.333333]
    assert found["kendall_tau"] == [1.0, -1.0, 0.666667, 0.0]
    assert found["surviving_bigrams"] == [1.0, 0.0, 0.333333, 0.666667]
    # seven letters; d ccc bb a: d travels 6, ccc 2, bb 3, a 6
    assert found["global_disorder_char"][1] == pytest.approx((6 + 3 * 2 + 2 * 3 + 6) / 24, abs=1e-6)
    assert found["local_disorder_char"] == [0.0, 0.5, 0.333333, 0.166667]


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_the_worst_order_is_one_and_the_original_zero(n: int) -> None:
    sentence = split(" ".join("abcdef"[:n]))
    rows = PositionRows(sentence, np.array(list(permutations(range(n)))))
    found = disorder_of(rows)
    for name in ("global_disorder", "local_disorder"):
        assert found[name][0] == 0
        assert found[name].min() == 0
        assert found[name].max() == pytest.approx(1.0)


@given(st.permutations(range(9)), st.integers(1, 9))
def test_inversions_are_counted_as_pairs_are(order: list[int], n: int) -> None:
    kept = np.argsort(np.argsort(order[:n]))[None, :]
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    assert inversions(kept)[0] == sum(kept[0][i] > kept[0][j] for i, j in pairs)


@given(st.integers(0, 2**32), st.integers(FEW - 2, 3 * FEW))
def test_inversions_of_few_and_of_many_are_counted_alike(seed: int, n: int) -> None:
    rows = np.random.default_rng(seed).permuted(np.tile(np.arange(n), (3, 1)), axis=1)
    expected = [sum((row[i] > row[i + 1 :]).sum() for i in range(n)) for row in rows]
    assert inversions(rows).tolist() == expected


@given(st.permutations(range(12)))
def test_kendall_is_that_of_scipy(order: list[int]) -> None:
    stats = pytest.importorskip("scipy.stats", reason="needs scipy")
    expected = stats.kendalltau(range(12), order).statistic
    assert kendall(np.array([order]))[0] == pytest.approx(expected)


def test_equal_words_keep_bigrams_that_positions_lose() -> None:
    found = measured("a b a b", [2, 1, 0, 3])
    assert found["surviving_bigrams"] == [1.0]
    assert found["local_disorder"] == [1.0]


def test_words_left_out_are_not_counted_and_repeats_have_none() -> None:
    found = measured("a b c d", [0, 2, 3])
    assert found["global_disorder"] == [0.0]
    assert found["local_disorder"] == [0.0]
    assert np.isnan(measured("a b c", [0, 0, 1])["global_disorder"]).all()


def test_a_pair_is_measured_on_the_texts_that_are_perturbed() -> None:
    pair = example("a b c d e f", "g h i j k l")
    one = parse("reverse").apply(pair, task=NLI, q=1, seed=0)
    assert variant_disorder(one)["global_disorder"].tolist() == [1.0]
    untouched = parse("original").apply(pair, task=NLI, q=1, seed=0)
    assert all(np.isnan(values).all() for values in variant_disorder(untouched).values())
    assert set(variant_disorder(one)) == set(DISORDER)


def test_long_texts_are_measured_quickly() -> None:
    text = " ".join(f"w{i}" for i in range(20_000))
    variants = parse("derange:side=a").apply(example(text), task=NLI, q=2, seed=0)
    assert (variant_disorder(variants)["global_disorder"] > 0.5).all()
