"""Predictions of the used examples are moved up in place, in memory and in a file."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from disorder.verbs import transformation_samples
from disorder.verbs.transformation_samples import compacted, empty_array


@given(st.lists(st.booleans(), max_size=40), st.integers(1, 5))
def test_rows_move_up_in_order(used: list[bool], part: int) -> None:
    mask = np.array(used, dtype=bool)
    array = np.arange(len(used) * 6, dtype=np.float32).reshape(len(used), 2, 3)
    expected = array[mask].copy()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(transformation_samples, "PART", part)
        kept = compacted(array, np.flatnonzero(mask))
    assert np.array_equal(kept, expected)
    assert kept.base is array or np.shares_memory(kept, array) or not len(kept)


def test_a_large_array_is_kept_in_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transformation_samples, "LARGE", 10)
    array = empty_array((4, 2, 3))
    assert isinstance(array, np.memmap)
    assert np.isnan(array).all()
    array[2] = 1
    assert compacted(array, np.array([2])).tolist() == [[[1.0] * 3] * 2]
