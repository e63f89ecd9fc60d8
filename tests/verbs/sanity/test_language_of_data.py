"""Other languages: no word classes by an English tagger, and words where there are no spaces."""

from __future__ import annotations

from importlib.metadata import distributions
from itertools import product
from pathlib import Path

import pytest

import disorder
from disorder.data.word_hashes import hashes, words_of

GERMAN = [
    f"{who} {verb} {when} {where} und {not_}kommt danach wieder zurück."
    for who, verb, when, where, not_ in product(
        ("Der alte Lehrer", "Die junge Ärztin", "Unser Nachbar", "Meine Schwester"),
        ("läuft", "fährt", "geht"),
        ("heute Morgen", "am Abend", "nach der Arbeit"),
        ("durch den Garten", "über die Straße", "in die Schule"),
        ("", "nicht "),
    )
]
CHINESE = [
    f"{when}{who}{verb}{what}。"
    for when, who, verb, what in product(
        ("今天", "昨天", "明天", "现在"),
        ("老师", "医生", "学生", "孩子"),
        ("喜欢", "讨厌"),
        ("苹果", "音乐", "电影", "足球"),
    )
]
THAI = [
    f"{who}{verb}กิน{what}ที่{where}"
    for who, verb, what, where in product(
        ("ฉัน", "เธอ", "เขา", "เรา"),
        ("ชอบ", "เกลียด"),
        ("ข้าว", "ผลไม้", "ขนม", "ปลา"),
        ("บ้าน", "โรงเรียน", "ตลาด", "ร้าน"),
    )
]


def rows(texts: list[str], mark: str) -> list[dict[str, str]]:
    """Single texts; the label is whether a word is there."""
    return [
        {"id": f"r{i:03d}", "text_a": text, "label": "yes" if mark in text else "no"}
        for i, text in enumerate(texts)
    ]


def test_no_word_classes_of_german_by_an_english_tagger(tmp_path: Path) -> None:
    pytest.importorskip("sklearn", reason="needs scikit-learn")
    installed = [found.name.replace("-", "_") for found in distributions()]
    if any(name.startswith("de_core_news") for name in installed):
        pytest.skip("a tagger for German is installed")
    found = disorder.sanity(rows(GERMAN, "nicht"), check=["labels", "classes"], out=tmp_path)
    assert found.language == "de"
    assert {verdict.question for verdict in found.verdicts} == {"labels", "rare labels"}
    [reason] = [section.reason for section in found.sections if section.name == "classes"]
    assert "no tagger for German (de) is installed" in reason
    card = (tmp_path / "card.md").read_text(encoding="utf-8")
    assert 'language: "de"' in card
    assert "| classes | **not done** | no tagger for German" in card
    assert "NOUN" not in card
    with pytest.raises(disorder.DisorderError, match=r"nothing could be checked .*German"):
        disorder.sanity(rows(GERMAN, "nicht"), check="classes")


@pytest.mark.parametrize(
    ("texts", "mark", "language"), [(CHINESE, "喜欢", "zh"), (THAI, "ชอบ", "th")]
)
def test_words_without_spaces_are_words(texts: list[str], mark: str, language: str) -> None:
    found = disorder.sanity(rows(texts, mark), check="words")
    assert found.language == language
    listed = {(row["word"], row["label"]) for row in found.tables[0].rows}
    assert (mark, "yes") in listed
    assert all(len(word) <= 7 for word, _ in listed)  # words, no clauses


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("It's here, isn’t it?", ["it's", "here", ",", "isn’t", "it", "?"]),
        ("Größe über alles", ["größe", "über", "alles"]),
        ("我喜欢苹果。", ["我", "喜欢", "苹果", "。"]),
        ("ฉันชอบกินข้าว", ["ฉัน", "ชอบ", "กิน", "ข้าว"]),
        ("यह किताब है।", ["यह", "किताब", "है", "।"]),
    ],
)
def test_words_of_any_script(text: str, words: list[str]) -> None:
    assert words_of(text) == words


def test_a_bag_of_chinese_characters_makes_no_use_of_order() -> None:
    texts = [(CHINESE[0], None), ("苹果喜欢老师今天。", None)]
    one, other = (sorted(hashes(text).tolist()) for text, _ in texts)
    assert one == other


def test_order_of_thai_is_left_out_with_the_reason() -> None:
    pytest.importorskip("sklearn", reason="needs scikit-learn")
    with pytest.raises(disorder.DisorderError, match=r"Thai.*without spaces"):
        disorder.sanity(rows(THAI, "ชอบ"), check="order")
