"""The bump chart of word order: every word is followed, and nothing is drawn of too many words."""

from __future__ import annotations

from disorder.web.example_page import word_order_chart


def test_the_chart_follows_each_word() -> None:
    original = [("a", 1), ("b", 2), ("c", 3)]
    chart = word_order_chart(
        original, [(0, [("c", 3), ("a", 1), ("b", 2)]), (1, [("b", 2), ("b", 2)])]
    )
    assert chart is not None
    a, b, c = chart["lines"]
    assert [line.places for line in (a, b, c)] == ["1, 2, gone", "2, 3, 1+2", "3, 1, gone"]
    assert [len(line.segments) for line in (a, b, c)] == [1, 3, 1]
    assert [len(line.dots) for line in (a, b, c)] == [2, 4, 2]
    first = a.segments[0]
    assert first[1] < first[3], "a went down"
    assert [word for _, _, word in chart["right"]] == ["b", "b"]


def test_there_is_no_chart_of_no_words_or_of_too_many() -> None:
    assert word_order_chart([], [(0, [])]) is None
    assert word_order_chart([("a", 1)], []) is None
    many = [("w", i) for i in range(1, 200)]
    assert word_order_chart(many, [(0, many)]) is None
