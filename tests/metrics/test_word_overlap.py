"""Word overlap: values worked by hand, with both ways to count."""

from __future__ import annotations

import pytest

from disorder.metrics.answer_match import word_overlap


@pytest.mark.parametrize(
    ("first", "second", "occurrences", "distinct"),
    [
        ("a b c", "a b", 1.0, 1.0),
        ("a b c", "a a a x", 0.75, 0.5),
        ("", "a", 0.0, 0.0),
        ("a", "b c", 0.0, 0.0),
        ("a", "", None, None),
    ],
)
def test_shares(first: str, second: str, occurrences: float | None, distinct: float | None) -> None:
    words = first.split(), second.split()
    assert word_overlap(*words, distinct=False) == occurrences
    assert word_overlap(*words, distinct=True) == distinct
