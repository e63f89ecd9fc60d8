"""Boundaries are those of characters as readers count them, at places of Python strings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disorder.languages import n_words, segments

CLUSTERS = [
    "é",
    "👩‍👩‍👧",
    "🏳️‍🌈",
    "👍🏽",
    "🇩🇪",
    "क्षि",
    "नि",
    "กำ",
    "ที่",
    "한",
    "\r\n",
    "𝒳",
]


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_a_character_is_never_cut(cluster: str) -> None:
    text = f"a{cluster}b"
    bounds = segments(text, "character")
    assert not set(bounds) & set(range(2, 1 + len(cluster)))


@given(st.text(max_size=40))
def test_boundaries_cover_any_text(text: str) -> None:
    for kind in ("character", "word", "sentence"):
        bounds = segments(text, kind)  # type: ignore[arg-type]
        assert bounds[0] == 0
        assert bounds[-1] == len(text)
        assert bounds == sorted(set(bounds))


def test_places_count_characters_beyond_the_first_plane_once() -> None:
    text = "😀 one 𝒳𝒴 two"
    words = [text[i:j] for i, j in zip(*(segments(text, "word")[k:] for k in (0, 1)), strict=False)]
    assert words == ["😀", " ", "one", " ", "𝒳𝒴", " ", "two"]


def test_words_are_counted_without_spaces_between_them() -> None:
    assert n_words("ฉันชอบกินข้าว") == 4
    assert n_words("私は学生です。") == 4
    assert n_words("") == 0
