"""Predictions of the used examples are moved up in place, in memory and in a file."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from disorder.verbs.audit import prediction_array
from disorder.verbs.audit.prediction_array import compacted, empty_array


@given(st.lists(st.booleans(), max_size=40), st.integers(1, 5))
def test_rows_move_up_in_order(used: list[bool], part: int) -> None:
    mask = np.array(used, dtype=bool)
    array = np.arange(len(used) * 6, dtype=np.float32).reshape(len(used), 2, 3)
    expected = array[mask].copy()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prediction_array, "PART", part)
        kept = compacted(array, mask)
    assert np.array_equal(kept, expected)
    assert kept.base is array or np.shares_memory(kept, array) or not len(kept)


def test_a_large_array_is_kept_in_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prediction_array, "LARGE", 10)
    array = empty_array((4, 2, 3))
    assert isinstance(array, np.memmap)
    assert np.isnan(array).all()
    array[2] = 1
    assert compacted(array, np.array([False, False, True, False])).tolist() == [[[1.0] * 3] * 2]
