"""Edit distances between words, which need rapidfuzz and no model."""

from __future__ import annotations

import pytest

from disorder.transformations.words import split
from disorder.types import Pair
from disorder.verbs.explain.head_matching import distances

pytest.importorskip("rapidfuzz", reason="needs rapidfuzz")


def test_case_and_punctuation_do_not_count() -> None:
    pair = Pair(split("Cats sat, here."), split("The cat sat!"))
    assert distances(pair).tolist() == [[4, 1, 2], [3, 1, 0], [3, 4, 4]]
