"""Do the three designs compare the right models on the right texts?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from conftest import pairs
from disorder.data import read
from disorder.train._designs import broken_test, designs, difference

pytest.importorskip("torch", reason="needs torch")


def test_a_paired_difference_is_surer_than_two_apart() -> None:
    right = np.arange(200) % 4 != 0
    better = right.copy()
    better[:8] = True
    score = difference(better, right)
    assert score.value == pytest.approx(0.01)
    assert -0.02 < score.low < 0.01 < score.high < 0.04
    none = difference(right, right)
    assert none.low < none.value == 0.0 < none.high


def test_broken_test_keeps_the_places_of_what_applies() -> None:
    rows = [*pairs(3), {"id": "e0001x", "text_a": "a", "text_b": "b", "label": "neutral"}]
    kept, texts, skipped = broken_test("derange:side=b", read(rows), 0)
    assert skipped == 1
    assert kept.tolist() == [0, 1, 3]
    assert len(texts) == 3


def test_a_bag_of_words_loses_nothing_by_broken_order(tmp_path: Path) -> None:
    found = designs(pairs(60), pairs(30), ["reverse:side=both"], model="bow", out=tmp_path / "d", settings={"epochs": 2})
    assert [design.name for design in found] == ["plain", "corrupt-train", "corrupt-test", "corrupt-both"]
    for design in found[1:]:
        assert design.delta is not None
        assert design.delta.value == 0.0
        assert design.accuracy.n == 30
