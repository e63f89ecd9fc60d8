"""κ, α and the majority: cases worked by hand, what is undefined, and the value of a library on
1,000 random tables each.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from disorder.errors import NothingToMeasure
from disorder.types import Ints
from disorder.verbs.human import ratings as agreement
from disorder.verbs.human.ratings import (
    NO_ANSWER,
    TIE,
    cohen_kappa,
    fleiss_kappa,
    krippendorff_alpha,
    majority,
)

N_TABLES = 1000


def table(cells: dict[tuple[int, ...], int]) -> Ints:
    """Ratings with each row repeated as often as given."""
    return np.array([row for row, count in cells.items() for _ in range(count)])


def test_cohen_by_hand() -> None:
    # observed (20 + 15) / 50 = 0.7; expected 0.5 · 0.6 + 0.5 · 0.4 = 0.5
    score = cohen_kappa(table({(0, 0): 20, (0, 1): 5, (1, 0): 10, (1, 1): 15}), 2)
    assert score.value == pytest.approx(0.4)
    assert (score.n, score.skipped) == (50, 0)
    assert score.low < 0.4 < score.high < 1


def test_cohen_takes_the_items_that_both_answered() -> None:
    score = cohen_kappa(
        table({(0, 0): 20, (0, 1): 5, (1, 0): 10, (1, 1): 15, (0, -1): 7, (-1, 1): 2, (-1, -1): 1}),
        2,
    )
    assert score.value == pytest.approx(0.4)
    assert (score.n, score.skipped) == (50, 10)


def test_fleiss_by_hand() -> None:
    # pairs that agree: 1, 1/3, 1/3, 1, mean 2/3; both labels have half of the answers, so 1/2 by
    # chance
    score = fleiss_kappa(np.array([[0, 0, 0], [0, 0, 1], [0, 1, 1], [1, 1, 1]]), 2)
    assert score.value == pytest.approx(1 / 3)
    assert score.n == 4


def test_fleiss_takes_items_with_equally_many_answers_whoever_gave_them() -> None:
    rows = [
        [0, 0, 0, -1],
        [0, -1, 0, 1],
        [0, 1, -1, 1],
        [-1, 1, 1, 1],
        [0, -1, -1, 1],
        [0, 0, 1, 1],
    ]
    score = fleiss_kappa(np.array(rows), 2)
    assert score.value == pytest.approx(1 / 3)
    assert (score.n, score.skipped) == (4, 2)


def test_alpha_by_hand() -> None:
    # coincidences 00: 2, 11: 4, 01 and 10: 1 each; n = 3 and 5 of 8: 1 − 2 / ((64 − 34) / 7) = 1 −
    # 14/30
    score = krippendorff_alpha(np.array([[0, 0], [1, 1], [0, 1], [1, 1], [0, -1]]), 2)
    assert score.value == pytest.approx(1 - 14 / 30)
    assert (score.n, score.skipped) == (4, 1)


def test_alpha_of_krippendorffs_own_example() -> None:
    """Four observers, twelve units, missing data: 0.743 (Krippendorff 2011, nominal)."""
    gaps = -1
    rows = np.array(
        [
            [1, 2, 3, 3, 2, 1, 4, 1, 2, gaps, gaps, gaps],
            [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, gaps, 3],
            [gaps, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, gaps],
            [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, gaps],
        ]
    ).T
    score = krippendorff_alpha(np.where(rows > 0, rows - 1, -1), 5)
    assert round(score.value, 3) == 0.743
    assert (score.n, score.skipped) == (11, 1)


def test_majority_by_hand() -> None:
    rows = [
        [0, 0, 1, -1],
        [2, 1, 0, -1],
        [1, 1, -1, -1],
        [0, 0, 1, 1],
        [2, 2, 2, 0],
        [-1, -1, -1, -1],
    ]
    assert majority(np.array(rows), 3).tolist() == [0, TIE, NO_ANSWER, TIE, 2, NO_ANSWER]


@pytest.mark.parametrize("statistic", [cohen_kappa, fleiss_kappa, krippendorff_alpha])
def test_what_is_undefined_is_an_error_and_not_zero(statistic) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(NothingToMeasure, match="label"):
        statistic(np.zeros((9, 2), dtype=int), 3)
    with pytest.raises(NothingToMeasure, match="0 items"):
        statistic(np.array([[0, -1], [-1, 1], [2, -1]]), 3)
    with pytest.raises(NothingToMeasure, match="1 items"):
        statistic(np.array([[0, 1], [-1, 1], [2, -1]]), 3)


@pytest.mark.parametrize("statistic", [cohen_kappa, fleiss_kappa, krippendorff_alpha])
def test_full_agreement_is_one_with_an_interval(statistic) -> None:  # type: ignore[no-untyped-def]
    score = statistic(table({(0, 0): 10, (1, 1): 10}), 2)
    assert score.value == pytest.approx(1.0)
    assert score.low < 0.99


@pytest.fixture
def without_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the resampling, which takes most of the time and is not compared."""
    monkeypatch.setattr(agreement, "resampled_sums", lambda parts, statistic: (-1.0, 1.0))


def random_ratings(seed: int, *, n_annotators: int, missing: float) -> tuple[Ints, int]:
    rng = np.random.default_rng(seed)
    n_items = int(rng.integers(2, 40))
    n_labels = int(rng.integers(2, 6))
    truth = rng.integers(n_labels, size=(n_items, 1))
    shape = (n_items, n_annotators)
    noise = rng.integers(n_labels, size=shape)
    ratings = np.where(rng.random(shape) < rng.random(), truth, noise)
    return np.where(rng.random(ratings.shape) < missing, -1, ratings), n_labels


def compared(mine, theirs, ratings: Ints, n_labels: int) -> bool:  # type: ignore[no-untyped-def]
    """Whether there was anything to compare; asserts that the values are the same."""
    try:
        value = mine(ratings, n_labels).value
    except NothingToMeasure:
        return False
    assert value == pytest.approx(theirs(ratings, n_labels), abs=1e-9)
    return True


@pytest.mark.usefixtures("without_intervals")
def test_cohen_as_scikit_learn_on_random_tables() -> None:
    metrics = pytest.importorskip("sklearn.metrics")

    def theirs(ratings: Ints, n_labels: int) -> float:
        both = ratings[(ratings >= 0).all(axis=1)]
        return float(
            metrics.cohen_kappa_score(both[:, 0], both[:, 1], labels=list(range(n_labels)))
        )

    done = [
        compared(cohen_kappa, theirs, *random_ratings(i, n_annotators=2, missing=0.1))
        for i in range(N_TABLES)
    ]
    assert sum(done) > 0.95 * N_TABLES


@pytest.mark.usefixtures("without_intervals")
def test_fleiss_as_statsmodels_on_random_tables() -> None:
    inter_rater = pytest.importorskip("statsmodels.stats.inter_rater")

    def theirs(ratings: Ints, n_labels: int) -> float:
        return float(
            inter_rater.fleiss_kappa(
                np.stack([(ratings == k).sum(axis=1) for k in range(n_labels)], axis=1)
            )
        )

    done = [
        compared(fleiss_kappa, theirs, *random_ratings(i, n_annotators=2 + i % 4, missing=0))
        for i in range(N_TABLES)
    ]
    assert sum(done) > 0.95 * N_TABLES


@pytest.mark.usefixtures("without_intervals")
def test_alpha_as_the_package_krippendorff_on_random_tables() -> None:
    package = pytest.importorskip("krippendorff")

    def theirs(ratings: Ints, n_labels: int) -> float:
        data = np.where(ratings.T < 0, np.nan, ratings.T)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return float(
                package.alpha(
                    data, level_of_measurement="nominal", value_domain=list(range(n_labels))
                )
            )

    tables = [random_ratings(i, n_annotators=2 + i % 4, missing=0.25) for i in range(N_TABLES)]
    done = [compared(krippendorff_alpha, theirs, *table) for table in tables]
    assert sum(done) > 0.95 * N_TABLES


@given(
    arrays(np.int64, st.tuples(st.integers(2, 12), st.integers(2, 5)), elements=st.integers(-1, 2))
)
def test_agreement_does_not_depend_on_order_or_names(ratings: Ints) -> None:
    renamed = np.array([2, 0, 1, -1])[ratings][::-1, ::-1]
    for statistic in (fleiss_kappa, krippendorff_alpha):
        try:
            score = statistic(ratings, 3)
        except NothingToMeasure:
            with pytest.raises(NothingToMeasure):
                statistic(renamed, 3)
            continue
        assert statistic(renamed, 3).value == pytest.approx(score.value)
        assert score.low <= score.value <= score.high <= 1
