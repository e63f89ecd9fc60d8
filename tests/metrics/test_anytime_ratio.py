"""The confidence sequence of a ratio of skills: right at every moment at once, and it narrows."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest

from disorder.metrics import AnytimeRatio
from disorder.verbs.gate import GateRule

N_LABELS = 3


def drawn(
    kept: float, n: int, seed: int, skew: tuple[float, ...] = (1, 1, 1)
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Examples of a model that is right with probability 0.9 before, and keeps this share of its
    skill after, whatever the mix of labels.
    """
    rng = np.random.default_rng(seed)
    before = 0.9
    after = 1 / N_LABELS + kept * (before - 1 / N_LABELS)
    label = rng.choice(N_LABELS, size=n, p=np.array(skew) / sum(skew))
    return label, rng.binomial(4, after, n) / 4, (rng.random(n) < before).astype(np.float64)


@pytest.mark.parametrize("kept", [0.0, 0.5, 1.0])
def test_the_true_ratio_is_inside_at_every_moment(kept: float) -> None:
    missed = 0
    for seed in range(40):
        sequence = AnytimeRatio(N_LABELS)
        label, after, before = drawn(kept, 300, seed, skew=(3, 1, 1))
        for start in range(0, 300, 30):
            part = slice(start, start + 30)
            sequence.update(label[part], after[part], before[part])
            low, high = sequence.interval
            if not low <= kept <= high:
                missed += 1
                break
    assert missed <= 4  # 2 of 40 are expected at most; more than 4 has probability 0.05 then


def test_it_narrows_and_decides() -> None:
    sequence = AnytimeRatio(N_LABELS)
    sequence.update(*drawn(0.0, 900, 1))
    low, high = sequence.interval
    assert sequence.has_skill
    assert low < 0 < high < 0.5


def test_without_skill_there_is_no_ratio() -> None:
    sequence = AnytimeRatio(N_LABELS)
    rng = np.random.default_rng(0)
    guesses = (rng.random(600) < 1 / 3).astype(np.float64)
    sequence.update(rng.integers(0, 3, 600), guesses, guesses)
    assert not sequence.has_skill
    assert sequence.interval == (-inf, inf)
    rule = GateRule.parse("skill_kept <= 3")
    assert [rule.is_met(end) for end in sequence.interval] == [True, False]  # not decided


def test_a_ratio_beyond_the_candidates_is_not_left_out() -> None:
    sequence = AnytimeRatio(2)
    rng = np.random.default_rng(0)
    before = (rng.random(4000) < 0.6).astype(np.float64)
    sequence.update(rng.integers(0, 2, 4000), np.ones(4000), before)  # 5 times the skill
    assert sequence.has_skill
    assert sequence.interval[0] < 5 < sequence.interval[1] < inf


def test_a_label_that_the_data_lacks_stops_nothing() -> None:
    sequence = AnytimeRatio(2)
    label, after, before = drawn(1.0, 100, 0)
    sequence.update(np.where(label == 1, 2, label), after, before)  # label 1 of three is absent
    assert sequence.n_units > 20
